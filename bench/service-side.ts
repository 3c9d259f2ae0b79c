// A service in a process of its own as one side of a comparison.

import { type Child, startChild } from "./child.ts";
import type { LoadResult } from "./load.ts";
import type { KeepInput, SendInput } from "./load-process.ts";
import type { Side } from "./rounds.ts";
import type { BenchTools, Setting } from "./setting.ts";

export interface Service {
  readonly child: Child;
  readonly port: number;
}

export async function startService(tools: BenchTools, setting: Setting, module: string): Promise<Service> {
  const profile = module === "serve-ours.ts" ? tools.profileFolder : undefined;
  const extraArgs = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`];
  const child = await startChild(tools, setting, module, extraArgs);
  return { child, port: await child.ask<number>("port") };
}

export interface Load {
  keep(list: string, requests: readonly string[]): Promise<void>;
  /** The service under the kept list, as a side. */
  side(name: string, service: Service, send: Omit<SendInput, "port">): Side;
}

export async function startLoad(tools: BenchTools, setting: Setting): Promise<Load> {
  const generator = await startChild(tools, setting, "load-process.ts");
  return {
    keep: (list, requests) => generator.ask("keep", { list, requests } satisfies KeepInput),
    side: (name, { child, port }, send) => ({
      name,
      measure: async () => {
        const cpuBeforeMs = await child.ask<number>("cpuMs");
        const result = await generator.ask<LoadResult>("send", { ...send, port } satisfies SendInput);
        const cpuMs = (await child.ask<number>("cpuMs")) - cpuBeforeMs;
        return { ...result, cpuUsPerRequest: (cpuMs * 1000) / result.count };
      },
    }),
  };
}
