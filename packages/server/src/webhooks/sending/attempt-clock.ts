// The time an attempt has: ten seconds until the response headers are complete, and a moment more for the body.
import { ackTimeoutMs, bodyGraceMs } from "./sending-limits.ts";

export interface AttemptClock {
  /** Aborts with "timed out" or "canceled". */
  readonly signal: AbortSignal;
  headersCame(): void;
  cancel(): void;
  /** The attempt is over. */
  stop(): void;
}

export function startAttemptClock(outer: AbortSignal | undefined): AttemptClock {
  const ending = new AbortController();
  let waitsForBody = false;
  const cancel = () => ending.abort("canceled");
  const timeOut = () => ending.abort("timed out");
  // One timer for nearly every attempt; the second only runs when a body is still coming after ten seconds.
  let timer = setTimeout(() => {
    if (waitsForBody) timer = setTimeout(timeOut, bodyGraceMs);
    else timeOut();
  }, ackTimeoutMs);
  if (outer?.aborted) cancel();
  outer?.addEventListener("abort", cancel, { once: true });
  return {
    signal: ending.signal,
    headersCame: () => {
      waitsForBody = true;
    },
    cancel,
    stop: () => {
      clearTimeout(timer);
      outer?.removeEventListener("abort", cancel);
    },
  };
}
