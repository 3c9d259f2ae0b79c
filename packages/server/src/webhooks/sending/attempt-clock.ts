// The time an attempt has: ten seconds until the response headers are complete, and a moment more for the body.
// Plain fields and one callback where an AbortController would be usual: in a CPU profile of keep-alive sends, that and
// its listeners took some 20 µs of each.
import { setMaxListeners } from "node:events";
import { ackTimeoutMs, bodyGraceMs } from "./sending-limits.ts";

export interface AttemptClock {
  /** Null while the attempt may go on. */
  ended: "timed out" | "canceled" | null;
  /** Called once, when it ends early. Whatever the attempt is waiting in puts itself here. */
  onEnd: () => void;
  headersCame(): void;
  cancel(): void;
  /** The attempt is over. */
  stop(): void;
}

interface RunningClock extends AttemptClock {
  timer: NodeJS.Timeout;
  waitsForBody: boolean;
}

export function startAttemptClock(outer: AbortSignal | undefined): AttemptClock {
  const clock: RunningClock = {
    ended: null,
    onEnd: doNothing,
    timer: setTimeout(onDeadline, ackTimeoutMs, () => clock),
    waitsForBody: false,
    headersCame() {
      clock.waitsForBody = true;
    },
    cancel() {
      end(clock, "canceled");
    },
    stop() {
      clearTimeout(clock.timer);
      clock.onEnd = doNothing;
      outer?.removeEventListener("abort", clock.cancel);
    },
  };
  if (outer !== undefined) {
    // One signal for every attempt in flight is not a leak: each takes its listener off when it stops.
    setMaxListeners(0, outer);
    outer.addEventListener("abort", clock.cancel, { once: true });
  }
  return clock;
}

/** One timer for nearly every attempt; the second only runs when a body is still coming after ten seconds. */
function onDeadline(clockOf: () => RunningClock): void {
  const clock = clockOf();
  if (clock.waitsForBody) clock.timer = setTimeout(end, bodyGraceMs, clock, "timed out");
  else end(clock, "timed out");
}

function end(clock: AttemptClock, reason: "timed out" | "canceled"): void {
  if (clock.ended !== null) return;
  clock.ended = reason;
  clock.onEnd();
}

function doNothing(): void {}
