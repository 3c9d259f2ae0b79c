// The load generator's own process: keeps named lists of requests, and sends one of them when asked.
import { answerParent } from "./child.ts";
import { type LoadOptions, type LoadResult, runLoad } from "./load.ts";

export interface KeepInput {
  readonly list: string;
  readonly requests: readonly string[];
}
export type SendInput = Omit<LoadOptions, "requests"> & { readonly list: string };

const lists = new Map<string, readonly Buffer[]>();

answerParent({
  keep: ({ list, requests }: KeepInput): void => {
    lists.set(
      list,
      requests.map((request) => Buffer.from(request)),
    );
  },
  send: ({ list, ...options }: SendInput): Promise<LoadResult> =>
    runLoad({ ...options, requests: lists.get(list) ?? [] }),
});
