// Sends one request over a connection and takes in the answer, until it is complete, too much, broken or too late.
import type { Dispatcher } from "undici";
import type { AttemptClock } from "./attempt-clock.ts";
import type { WebhookRequest } from "./build-request.ts";
import type { Connection } from "./connection.ts";
import { type KeptBody, keepBody } from "./response-body.ts";

export interface Response {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly truncated: boolean;
}

export interface Exchanged {
  /** Null when no complete headers came. */
  readonly response: Response | null;
  /** When the headers were complete. */
  readonly headersAtMs: number | null;
  /** Why there is no response, or no complete one. */
  readonly error: unknown;
  /** Whether the connection may carry another request. */
  readonly reusable: boolean;
  readonly anyByteCame: boolean;
  /** What the receiver's side had not taken from us when the exchange ended. */
  readonly unsentBytes: number;
}

type IncomingHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Never rejects. When the clock ends it, what has come by then is the answer. */
export function exchange(
  connection: Connection,
  request: WebhookRequest,
  clock: AttemptClock,
  nowMs: () => number,
): Promise<Exchanged> {
  return new Promise((resolve) => {
    const answer = takeAnswer(connection, clock, nowMs, resolve);
    clock.onEnd = () => answer.settle(false, null);
    if (clock.ended !== null) return answer.settle(false, null);
    connection.tap.bytes = 0;
    const { target, body, ownHeaders: headers } = request;
    connection.client.dispatch({ method: "POST", path: target.path, headers, body }, answer);
  });
}

interface Answer extends Dispatcher.DispatchHandler {
  settle(complete: boolean, error: unknown): void;
}

/** All methods of one object: tsx gives every inner function a name when it is made, which a CPU profile showed. */
function takeAnswer(
  { socket, tap }: Connection,
  clock: AttemptClock,
  nowMs: () => number,
  resolve: (exchanged: Exchanged) => void,
): Answer {
  let status = 0;
  let headers: Record<string, string> = {};
  let headersAtMs: number | null = null;
  let body: KeptBody | null = null;
  let settled = false;

  return {
    settle(complete, error) {
      if (settled) return;
      settled = true;
      const unsentBytes = socket.writableLength;
      if (!complete) socket.destroy();
      const response =
        status === 0 ? null : { status, headers, body: body?.text(complete) ?? "", truncated: !complete };
      resolve({ response, headersAtMs, error, reusable: complete, anyByteCame: tap.bytes > 0, unsentBytes });
    },
    onRequestStart() {},
    onResponseStart(_controller, incomingStatus, incomingHeaders) {
      if (settled || incomingStatus < 200) return;
      clock.headersCame();
      headersAtMs = nowMs();
      status = incomingStatus;
      headers = flatten(incomingHeaders);
    },
    onResponseData(_controller, chunk) {
      body ??= keepBody();
      if (!settled && !body.add(chunk)) this.settle(false, null);
    },
    onResponseEnd() {
      this.settle(true, null);
    },
    onResponseError(_controller, error) {
      this.settle(false, tap.flooded ? Object.assign(new Error("too much"), { code: "HPE_FLOOD" }) : error);
    },
  };
}

function flatten(headers: IncomingHeaders): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    flat[name] = Array.isArray(value) ? value.join(", ") : (value ?? "");
  }
  return flat;
}
