// Text and times as callers may send them.
import { label, text, timestamp } from "@coinslot/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const accepts = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown) =>
  schema.safeParse(value).success;

describe("text counts code points", () => {
  test.each([
    ["a", 1],
    ["é", 1],
    ["e\u0301", 2],
    ["🏆", 1],
    ["👩‍🚀", 3],
    ["日本", 2],
    ["\u{10ffff}", 1],
    ["a\tb\n", 4],
  ])("%j has %d", (value, count) => {
    expect(accepts(text(count, count), value)).toBe(true);
    expect(accepts(text(0, count - 1), value)).toBe(false);
    expect(accepts(text(count + 1, 200), value)).toBe(false);
  });

  test("for any well-formed text without NUL and any bounds, as spreading it would count", () => {
    const bound = fc.integer({ min: 0, max: 12 });
    const value = fc.string({ unit: "binary", maxLength: 14 }).filter((text) => !text.includes("\u0000"));
    fc.assert(
      fc.property(bound, bound, value, (a, b, sent) => {
        const [min, max] = [Math.min(a, b), Math.max(a, b)];
        const count = [...sent].length;
        expect(accepts(text(min, max), sent)).toBe(count >= min && count <= max);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ["200 emoji", "😀".repeat(200), true],
    ["201 emoji", "😀".repeat(201), false],
    ["200 letters", "a".repeat(200), true],
    ["201 letters", "a".repeat(201), false],
    ["199 letters and an emoji", "a".repeat(199) + "😀", true],
    ["200 letters and an emoji", "a".repeat(200) + "😀", false],
    ["nothing", "", false],
  ])("1 to 200: %s", (_what, value, good) => {
    expect(accepts(text(1, 200), value)).toBe(good);
  });
});

describe("text refuses what cannot be stored as it is", () => {
  test.each(["a\u0000b", "\ud800", "a\udc00", "\udc00\ud800"])("%j", (value) => {
    expect(accepts(text(0, 10), value)).toBe(false);
  });

  test.each([[null], [1], [true], [["a"]], [{}], [undefined]])("%j, which is not text", (value) => {
    expect(accepts(text(0, 10), value)).toBe(false);
  });
});

describe("label refuses control characters besides", () => {
  test.each(["a\nb", "\t", "a\u007f", "\u0085", "\u001b[31m"])("%j", (value) => {
    expect(accepts(text(1, 10), value)).toBe(true);
    expect(accepts(label(1, 10), value)).toBe(false);
  });

  test.each(["Sword of Doom", "Épée ⚔", " x "])("but not %j", (value) => {
    expect(accepts(label(1, 20), value)).toBe(true);
  });
});

describe("timestamp", () => {
  test.each(["2027-01-31T12:00:00Z", "2027-01-31T12:00:00.123Z", "2027-01-31T12:00:00+02:00"])(
    "%s is one",
    (value) => {
      expect(accepts(timestamp, value)).toBe(true);
    },
  );

  test.each([
    "2027-01-31",
    "2027-01-31T12:00:00",
    "2027-02-30T12:00:00Z",
    "2027-13-01T12:00:00Z",
    "2027-01-31T25:00:00Z",
    "tomorrow",
    "1800000000",
    "",
  ])("%j is not", (value) => {
    expect(accepts(timestamp, value)).toBe(false);
  });

  test.each([[1_800_000_000], [null], [{}]])("%j is not", (value) => {
    expect(accepts(timestamp, value)).toBe(false);
  });
});
