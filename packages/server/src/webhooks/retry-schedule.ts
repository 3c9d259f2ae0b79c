// When a delivery is attempted: nine times over three days, as data.
import { limits } from "@coinslot/contract";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** How long after the first attempt each attempt is due, the first included. */
export const attemptOffsetsMs: readonly number[] = [
  0,
  30 * second,
  5 * minute,
  35 * minute,
  2.5 * hour,
  8 * hour,
  20 * hour,
  42 * hour,
  72 * hour,
];

/** An attempt comes up to a tenth early, so that what failed together does not return together. */
export const jitterShare = 0.1;

if (attemptOffsetsMs.length !== 1 + limits.webhookRetryCount)
  throw new Error("The schedule has another number of retries.");
if (attemptOffsetsMs.at(-1) !== limits.webhookRetrySpanMs)
  throw new Error("The schedule spans another time.");

export interface RetryInput {
  /** When the first attempt of this series began. */
  readonly startedAtMs: number;
  /** Which attempt of the series has just failed: 0 is the first. */
  readonly slot: number;
  readonly nowMs: number;
  /** What the receiver asked for with Retry-After. */
  readonly retryAfterMs: number | null;
  /** From 0 up to, not including, 1. */
  readonly random: number;
}

/** When to try again, or null when that was the last attempt. */
export function nextAttemptAtMs(input: RetryInput): number | null {
  const offset = attemptOffsetsMs[input.slot + 1];
  const before = attemptOffsetsMs[input.slot];
  if (offset === undefined || before === undefined) return null;
  const planned = input.startedAtMs + offset - offset * jitterShare * input.random;
  // Retry-After moves one attempt later, but not past the one that follows it, and the last one not at all.
  const latest = input.startedAtMs + (attemptOffsetsMs[input.slot + 2] ?? offset);
  const asked = input.retryAfterMs === null ? 0 : Math.min(input.nowMs + input.retryAfterMs, latest);
  return Math.round(Math.max(planned, asked));
}
