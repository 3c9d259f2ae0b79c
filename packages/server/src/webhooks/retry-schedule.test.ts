// The schedule: ten thousand seeded runs on a fake clock keep it.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { attemptOffsetsMs, jitterShare, nextAttemptAtMs } from "./retry-schedule.ts";

const hours = 60 * 60 * 1000;

describe("nine attempts", () => {
  test("over 72 hours, each planned attempt a tenth early at the most and never late: 10,000 runs", () => {
    const run = fc.record({
      start: fc.integer({ min: 0, max: 4_000_000_000_000 }),
      randoms: fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), {
        minLength: 8,
        maxLength: 8,
      }),
      // How long each attempt takes to fail, and what the receiver asks for.
      delays: fc.array(fc.integer({ min: 0, max: 10_500 }), { minLength: 9, maxLength: 9 }),
      retryAfter: fc.array(fc.option(fc.integer({ min: 0, max: 100 * hours })), {
        minLength: 8,
        maxLength: 8,
      }),
    });
    fc.assert(
      fc.property(run, ({ start, randoms, delays, retryAfter }) => {
        const attempts = [start];
        for (let slot = 0; ; slot++) {
          const nowMs = (attempts.at(-1) ?? 0) + (delays[slot] ?? 0);
          const next = nextAttemptAtMs({
            startedAtMs: start,
            slot,
            nowMs,
            retryAfterMs: retryAfter[slot] ?? null,
            random: randoms[slot] ?? 0,
          });
          if (next === null) break;
          const offset = attemptOffsetsMs[slot + 1] ?? 0;
          expect(next - start).toBeGreaterThanOrEqual(Math.floor(offset * (1 - jitterShare)));
          const following = attemptOffsetsMs[slot + 2] ?? offset;
          expect(next - start).toBeLessThanOrEqual(retryAfter[slot] == null ? offset : following);
          // The clock of a dispatcher does not go back: what is due already is attempted at once.
          attempts.push(Math.max(next, nowMs));
        }
        expect(attempts).toHaveLength(9);
        expect((attempts.at(-1) ?? 0) - start).toBeLessThanOrEqual(72 * hours + 10_500);
      }),
      { numRuns: 10_000 },
    );
  });

  test("without jitter: at once, 30 s, 5 min, 35 min, 2.5 h, 8 h, 20 h, 42 h, 72 h", () => {
    const at = (slot: number) =>
      nextAttemptAtMs({ startedAtMs: 0, slot, nowMs: 0, retryAfterMs: null, random: 0 });
    expect([0, 1, 2, 3, 4, 5, 6, 7].map(at)).toEqual(
      [30 / 3600, 5 / 60, 35 / 60, 2.5, 8, 20, 42, 72].map((time) => time * hours),
    );
    expect(at(8)).toBeNull();
  });
});

describe("Retry-After", () => {
  const ask = (slot: number, nowMs: number, retryAfterMs: number) =>
    nextAttemptAtMs({ startedAtMs: 0, slot, nowMs, retryAfterMs, random: 0 });

  test("moves an attempt later", () => expect(ask(0, 1_000, 120_000)).toBe(121_000));
  test("moves none earlier", () => expect(ask(0, 1_000, 5_000)).toBe(30_000));
  test("moves none past the attempt that follows", () => expect(ask(0, 1_000, 999_999_999)).toBe(5 * 60_000));
  test("does not move the last one", () => expect(ask(7, 43 * hours, 99 * hours)).toBe(72 * hours));
});
