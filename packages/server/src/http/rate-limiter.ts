// A rate limiter that keeps one number a key: when the key's allowance is whole again (GCRA).
import type { Clock } from "../clock.ts";

/** Bursts of this much of the sustained rate are let through. */
export const burstWindowS = 10;
/** Keys remembered at most, about 10 MB; past it the longest-known are forgotten first. */
const keysMaxCount = 100_000;

export interface Verdict {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetS: number;
}

export interface RateLimiter {
  /** Counts one request of the key. */
  take(key: string): Verdict;
}

const unlimited: RateLimiter = {
  take: () => ({ allowed: true, limit: 0, remaining: 0, resetS: 0 }),
};

export function createRateLimiter(perSecond: number, clock: Clock): RateLimiter {
  if (perSecond === 0) return unlimited;
  // Time is counted from the start in steps of 1/perSecond ms: then a request costs a whole number of steps, and
  // nothing is rounded away. Added to milliseconds since 1970, a cost of 0.2 ms would lose 0.02 % each time.
  const startedAtMs = clock.nowMs();
  const cost = 1000;
  const stepsPerS = 1000 * perSecond;
  const window = burstWindowS * stepsPerS;
  const limit = perSecond * burstWindowS;
  const wholeAt = new Map<string, number>();

  const forget = (now: number): void => {
    for (const [key, at] of wholeAt) if (at <= now) wholeAt.delete(key);
    for (const key of wholeAt.keys()) {
      // A tenth at a time, so that a flood of new keys does not walk the whole map for each.
      if (wholeAt.size < keysMaxCount * 0.9) return;
      wholeAt.delete(key);
    }
  };

  return {
    take(key) {
      const now = (clock.nowMs() - startedAtMs) * perSecond;
      const known = wholeAt.get(key);
      const from = known === undefined ? now : Math.max(known, now);
      const allowed = from + cost - now <= window;
      const debt = from - now + (allowed ? cost : 0);
      if (allowed) {
        if (known === undefined && wholeAt.size >= keysMaxCount) forget(now);
        wholeAt.set(key, from + cost);
      }
      return {
        allowed,
        limit,
        remaining: Math.max(0, Math.floor((window - debt) / cost)),
        // For a refused request: until one more fits; otherwise: until the allowance is whole.
        resetS: Math.ceil((allowed ? debt : debt + cost - window) / stepsPerS),
      };
    },
  };
}
