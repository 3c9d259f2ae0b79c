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
  const costMs = 1000 / perSecond;
  const windowMs = burstWindowS * 1000;
  const limit = perSecond * burstWindowS;
  const wholeAtMs = new Map<string, number>();

  const forget = (nowMs: number): void => {
    for (const [key, at] of wholeAtMs) if (at <= nowMs) wholeAtMs.delete(key);
    for (const key of wholeAtMs.keys()) {
      // A tenth at a time, so that a flood of new keys does not walk the whole map for each.
      if (wholeAtMs.size < keysMaxCount * 0.9) return;
      wholeAtMs.delete(key);
    }
  };

  return {
    take(key) {
      const nowMs = clock.nowMs();
      const known = wholeAtMs.get(key);
      const next = Math.max(known ?? 0, nowMs) + costMs;
      const allowed = next - nowMs <= windowMs + 1e-6;
      const debtMs = allowed ? next - nowMs : Math.max(known ?? 0, nowMs) - nowMs;
      if (allowed) {
        if (known === undefined && wholeAtMs.size >= keysMaxCount) forget(nowMs);
        wholeAtMs.set(key, next);
      }
      return {
        allowed,
        limit,
        remaining: Math.max(0, Math.floor((windowMs - debtMs) / costMs + 1e-6)),
        // For a refused request: until one more fits; otherwise: until the allowance is whole.
        resetS: Math.ceil((allowed ? debtMs : debtMs + costMs - windowMs) / 1000),
      };
    },
  };
}
