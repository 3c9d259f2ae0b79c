// Ids: their form, their order and that they do not repeat.
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createIds } from "./ids.ts";

function idsAt(nowMs: number) {
  return createIds({ nowMs: () => nowMs, sleep: async () => undefined }, randomBytes);
}

describe("ids", () => {
  it("are the prefix, an underscore and 26 letters of an alphabet without look-alikes", () => {
    for (const prefix of ["game", "lb", "pur", "evt", "dlv", "tok", "req", "key", "ut"] as const)
      expect(idsAt(Date.now())(prefix)).toMatch(new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`));
  });

  it("sort as text by the millisecond in which they were made", () => {
    const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });
    fc.assert(
      fc.property(time, time, (a, b) => {
        const [idA, idB] = [idsAt(a)("pur"), idsAt(b)("pur")];
        if (a !== b) expect(idA < idB).toBe(a < b);
      }),
    );
  });

  it("do not repeat within a millisecond", () => {
    const ids = idsAt(1_750_000_000_000);
    expect(new Set(Array.from({ length: 20_000 }, () => ids("evt"))).size).toBe(20_000);
  });

  it("use every one of their 80 random bits", () => {
    const clock = { nowMs: () => 0, sleep: async () => undefined };
    const tail = (byte: number) =>
      createIds(clock, (size) => new Uint8Array(size).fill(byte))("evt").slice(-16);
    expect(tail(0)).toBe("0".repeat(16));
    expect(tail(255)).toBe("z".repeat(16));
    expect(new Set(Array.from({ length: 32 }, (_, byte) => tail(byte))).size).toBe(32);
  });
});
