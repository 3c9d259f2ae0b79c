// Tells a receiver's trouble from our own: when nearly every endpoint is unreachable at once, the network is ours.
import type { FailureCode } from "./sending/failure.ts";

/** Failures in which no receiver was reached at all. */
const unreached: ReadonlySet<FailureCode> = new Set([
  "name_not_resolved",
  "name_lookup_failed",
  "unreachable",
  "network_error",
  "connection_refused",
  "timed_out",
]);

const windowMs = 30_000;
/** Fewer endpoints than this say nothing about the network. */
const endpointsMinCount = 5;
const shareMin = 0.8;

export interface OutageDetector {
  /** Notes how an attempt ended: its failure, or null. */
  note(endpoint: string, failure: FailureCode | null): void;
  /** Whether most endpoints cannot be reached at present. */
  isDown(): boolean;
}

export function createOutageDetector(nowMs: () => number): OutageDetector {
  const last = new Map<string, { atMs: number; isReached: boolean }>();
  let down = false;

  const judge = (): void => {
    const since = nowMs() - windowMs;
    let known = 0;
    let missed = 0;
    for (const [endpoint, { atMs, isReached }] of last) {
      if (atMs < since) last.delete(endpoint);
      else {
        known++;
        if (!isReached) missed++;
      }
    }
    down = known >= endpointsMinCount && missed / known >= shareMin;
  };

  return {
    note(endpoint, failure) {
      const isReached = failure === null || !unreached.has(failure);
      last.set(endpoint, { atMs: nowMs(), isReached });
      if (isReached && down) {
        // One answer from outside proves the network; what is known of the others is from before.
        last.clear();
        down = false;
        return;
      }
      judge();
    },
    isDown: () => {
      if (down) judge();
      return down;
    },
  };
}
