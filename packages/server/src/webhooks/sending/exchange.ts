// Sends one request over a connection and takes in the answer, until it is complete, too much, broken or too late.
import type { WebhookRequest } from "./build-request.ts";
import type { Connection } from "./connection.ts";
import { keepBody } from "./response-body.ts";

export interface Response {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly truncated: boolean;
}

export interface Exchanged {
  /** Null when no complete headers came. */
  readonly response: Response | null;
  /** Why there is no response, or no complete one. */
  readonly error: unknown;
  /** Whether the connection may carry another request. */
  readonly reusable: boolean;
  readonly anyByteCame: boolean;
  /** What the receiver's side had not taken from us when the exchange ended. */
  readonly unsentBytes: number;
}

type IncomingHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Never rejects. The caller gives up through the signal; what has come by then is the answer. */
export function exchange(
  { client, socket, tap }: Connection,
  request: WebhookRequest,
  onHeaders: () => void,
  signal: AbortSignal,
): Promise<Exchanged> {
  return new Promise((resolve) => {
    const body = keepBody();
    let head: Pick<Response, "status" | "headers"> | null = null;
    let settled = false;
    tap.bytes = 0;

    const settle = (complete: boolean, error: unknown) => {
      if (settled) return;
      settled = true;
      signal.removeEventListener("abort", giveUp);
      const unsentBytes = socket.writableLength;
      if (!complete) socket.destroy();
      const response = head && { ...head, body: body.text(complete), truncated: !complete };
      resolve({ response, error, reusable: complete, anyByteCame: tap.bytes > 0, unsentBytes });
    };
    const giveUp = () => settle(false, signal.reason);
    if (signal.aborted) return giveUp();
    signal.addEventListener("abort", giveUp, { once: true });

    const { path, body: requestBody, ownHeaders } = request;
    client.dispatch(
      { method: "POST", path, headers: ownHeaders, body: requestBody },
      {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, status, headers) => {
          if (settled || status < 200) return;
          head = { status, headers: flatten(headers) };
          onHeaders();
        },
        onResponseData: (_controller, chunk) => {
          if (!settled && !body.add(chunk)) settle(false, null);
        },
        onResponseEnd: () => settle(true, null),
        onResponseError: (_controller, error) => settle(false, tap.flooded ? floodError() : error),
      },
    );
  });
}

function floodError(): Error {
  return Object.assign(new Error("too much"), { code: "HPE_FLOOD" });
}

function flatten(headers: IncomingHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );
}
