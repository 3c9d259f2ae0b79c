// The rate limiter against a plain model: a bucket that fills at the rate and holds ten seconds' worth.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { burstWindowS, createRateLimiter } from "./rate-limiter.ts";

function createTestClock(startMs = 1_750_000_000_000) {
  let nowMs = startMs;
  return {
    nowMs: () => nowMs,
    sleep: async () => undefined,
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

const rate = fc.integer({ min: 1, max: 50 });
const pauses = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 4_000 })), { maxLength: 200 });

describe("createRateLimiter", () => {
  it("lets the burst through, then refuses, then one more a cost later", () => {
    const clock = createTestClock();
    const limiter = createRateLimiter(2, clock);
    for (let i = 1; i <= 20; i++)
      expect(limiter.take("a")).toEqual({
        allowed: true,
        limit: 20,
        remaining: 20 - i,
        resetS: Math.ceil(i / 2),
      });
    expect(limiter.take("a")).toEqual({ allowed: false, limit: 20, remaining: 0, resetS: 1 });
    clock.advance(499);
    expect(limiter.take("a").allowed).toBe(false);
    clock.advance(1);
    expect(limiter.take("a").allowed).toBe(true);
    expect(limiter.take("a").allowed).toBe(false);
    clock.advance(burstWindowS * 1_000);
    expect(limiter.take("a").remaining).toBe(19);
  });

  it("counts each key for itself", () => {
    const limiter = createRateLimiter(1, createTestClock());
    for (let i = 0; i < 11; i++) limiter.take("a");
    expect(limiter.take("a").allowed).toBe(false);
    expect(limiter.take("b")).toMatchObject({ allowed: true, remaining: 9 });
  });

  it("is refused nothing for having been refused: asking on does not lengthen the wait", () => {
    const clock = createTestClock();
    const limiter = createRateLimiter(1, clock);
    for (let i = 0; i < 1_000; i++) limiter.take("a");
    clock.advance(1_000);
    expect(limiter.take("a").allowed).toBe(true);
  });

  it("answers as the model does, at every step", () => {
    fc.assert(
      fc.property(rate, pauses, (perSecond, steps) => {
        const clock = createTestClock();
        const limiter = createRateLimiter(perSecond, clock);
        const limit = perSecond * burstWindowS;
        // In thousandths of a request, so that the model counts in whole numbers.
        let tokens = limit * 1_000;
        for (const pauseMs of steps) {
          clock.advance(pauseMs);
          tokens = Math.min(limit * 1_000, tokens + pauseMs * perSecond);
          const allowed = tokens >= 1_000;
          if (allowed) tokens -= 1_000;
          const missing = allowed ? limit * 1_000 - tokens : 1_000 - tokens;
          const verdict = limiter.take("a");
          expect(verdict).toMatchObject({ allowed, limit, remaining: Math.floor(tokens / 1_000) });
          const waitS = missing / perSecond / 1_000;
          expect(verdict.resetS).toBeGreaterThanOrEqual(Math.ceil(waitS - 1e-6));
          expect(verdict.resetS).toBeLessThanOrEqual(Math.ceil(waitS + 1e-6));
        }
      }),
    );
  });

  it("never allows more than the limit and the rate times the time, in any window", () => {
    fc.assert(
      fc.property(rate, pauses, (perSecond, steps) => {
        const clock = createTestClock();
        const limiter = createRateLimiter(perSecond, clock);
        const allowedAt: number[] = [];
        for (const pauseMs of steps) {
          clock.advance(pauseMs);
          for (let i = 0; i < 5; i++) if (limiter.take("a").allowed) allowedAt.push(clock.nowMs());
        }
        for (const [first, from] of allowedAt.entries())
          for (let last = first; last < allowedAt.length; last++) {
            const windowS = ((allowedAt[last] ?? from) - from) / 1_000;
            if (last - first + 1 > perSecond * burstWindowS + perSecond * windowS + 1e-6)
              throw new Error(`${last - first + 1} requests in ${windowS} s at ${perSecond} a second.`);
          }
      }),
      { numRuns: 30 },
    );
  });

  it("allows everything, and says nothing of a limit, at 0", () => {
    const limiter = createRateLimiter(0, createTestClock());
    for (let i = 0; i < 1_000; i++) expect(limiter.take("a")).toMatchObject({ allowed: true, limit: 0 });
  });

  it("forgets under a flood of keys, the longest-known first, and keeps its memory bounded", () => {
    const clock = createTestClock();
    const limiter = createRateLimiter(1, clock);
    const exhaust = (key: string) => {
      for (let i = 0; i < 10; i++) limiter.take(key);
      expect(limiter.take(key).allowed).toBe(false);
    };
    exhaust("old");
    for (let i = 0; i < 99_990; i++) limiter.take(`flood-${i}`);
    exhaust("young");
    expect(limiter.take("old").allowed).toBe(false);
    for (let i = 0; i < 20; i++) limiter.take(`more-${i}`);
    // The old key had to make room: it starts anew. The young one is still held to its limit.
    expect(limiter.take("old").allowed).toBe(true);
    expect(limiter.take("young").allowed).toBe(false);
  });

  it("forgets keys that are whole again before any that is not", () => {
    const clock = createTestClock();
    const limiter = createRateLimiter(1, clock);
    for (let i = 0; i < 10; i++) limiter.take("debtor");
    clock.advance(5_000);
    for (let i = 0; i < 99_999; i++) limiter.take(`flood-${i}`);
    clock.advance(1_500);
    // The flood's keys are whole again, the debtor owes still: room is made by the flood alone.
    limiter.take("one more");
    expect(limiter.take("debtor").remaining).toBe(5);
  });
});
