// What there is to know about one attempt once it is over: the interface between sending and whoever logs it.
import type { Response } from "./exchange.ts";
import type { Failure } from "./failure.ts";
import { parseRetryAfter } from "./retry-after.ts";

export interface Attempt {
  readonly delivered: boolean;
  readonly failure: Failure | null;
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** Null when no complete response headers came. */
  readonly response: Response | null;
  readonly timings: Timings;
  /** How long the receiver asks to be left alone; only with a failure. */
  readonly retryAfterMs: number | null;
}

/** How long each part took; null for what did not happen, such as a lookup when a connection was reused. */
export interface Timings {
  readonly lookupMs: number | null;
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
  /** From the request to the end of the response headers. */
  readonly firstByteMs: number | null;
  readonly totalMs: number;
}

const nothingHappened: Timings = {
  lookupMs: null,
  connectMs: null,
  tlsMs: null,
  firstByteMs: null,
  totalMs: 0,
};

export function finishedAttempt(
  requestHeaders: Readonly<Record<string, string>>,
  failure: Failure | null,
  response: Response | null = null,
  timings: Timings = nothingHappened,
): Attempt {
  return {
    delivered: failure === null,
    failure,
    requestHeaders,
    response,
    timings,
    retryAfterMs: failure === null || response === null ? null : parseRetryAfter(response.headers),
  };
}
