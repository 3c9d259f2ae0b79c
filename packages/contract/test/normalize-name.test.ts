// normalizeName: the form in which a leaderboard's name is stored and looked up.
import { normalizeName } from "@coinslot/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

/** A second, plodding implementation: one code point at a time, white space listed by hand. */
const whiteSpace = new Set(
  [
    0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006,
    0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff,
  ].map((code) => String.fromCodePoint(code)),
);

function normalizeSlowly(name: string): string {
  let out = "";
  let inSpace = false;
  for (const char of name.toLowerCase()) {
    const isSpace = whiteSpace.has(char);
    if (isSpace && !inSpace) out += "_";
    if ("abcdefghijklmnopqrstuvwxyz0123456789_-".includes(char)) out += char;
    inSpace = isSpace;
  }
  return out;
}

/** Names rich in what the rules speak of, rather than mostly letters of far-off scripts. */
const nameParts = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: "binary" }),
  fc.constantFrom(...whiteSpace, "_", "-", "A", "z", "0", "É", "İ", "\u212a", "ß", "🏆", "!", "/", "\u200b"),
);
const names = fc.array(nameParts, { maxLength: 12 }).map((parts) => parts.join(""));

describe("normalizeName examples", () => {
  test.each([
    ["High Scores", "high_scores"],
    ["high_scores", "high_scores"],
    ["high-scores-2", "high-scores-2"],
    ["HIGHSCORES", "highscores"],
    ["a \t\r\n b", "a_b"],
    [" lead and trail ", "_lead_and_trail_"],
    ["a__b--c", "a__b--c"],
    ["a _ b", "a___b"],
    ["Best Time! (ms)", "best_time_ms"],
    ["a ! b", "a__b"],
    ["Überholt", "berholt"],
    ["café", "caf"],
    ["100%", "100"],
    ["a.b/c\\d:e", "abcde"],
    ["🏆 Cup", "_cup"],
    ["\u212aelvin", "kelvin"],
    ["İstanbul", "istanbul"],
    ["a\u0000b", "ab"],
    ["\ud800x", "x"],
    ["٣٤", ""],
    ["", ""],
    ["!!!", ""],
    ["日本", ""],
    [" ", "_"],
  ])("%j becomes %j", (name, normalized) => {
    expect(normalizeName(name)).toBe(normalized);
  });

  test.each([...whiteSpace].map((char) => [`U+${char.charCodeAt(0).toString(16).padStart(4, "0")}`, char]))(
    "%s is white space: alone and in a run it becomes one underscore",
    (_code, char) => {
      expect(normalizeName(`a${char}b`)).toBe("a_b");
      expect(normalizeName(`a${char}${char} ${char}b`)).toBe("a_b");
    },
  );

  test.each(["\u200b", "\u2060", "\u00ad", "\u180e"])("%j is not white space and vanishes", (char) => {
    expect(normalizeName(`a${char}b`)).toBe("ab");
  });
});

describe("normalizeName for any name", () => {
  test("agrees with the plodding implementation", () => {
    fc.assert(
      fc.property(names, (name) => {
        expect(normalizeName(name)).toBe(normalizeSlowly(name));
      }),
      { numRuns: 1_000 },
    );
  });

  test("is idempotent and stays within its alphabet", () => {
    fc.assert(
      fc.property(names, (name) => {
        const once = normalizeName(name);
        expect(once).toMatch(/^[a-z0-9_-]*$/);
        expect(normalizeName(once)).toBe(once);
      }),
      { numRuns: 1_000 },
    );
  });

  test("a name of the alphabet is left as it is, and its case does not matter", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9_-]{0,40}$/), (name) => {
        expect(normalizeName(name)).toBe(name);
        expect(normalizeName(name.toUpperCase())).toBe(name);
      }),
    );
  });

  test("how much white space stands between two words does not matter", () => {
    const gap = fc.array(fc.constantFrom(...whiteSpace), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(gap, gap, (one, other) => {
        expect(normalizeName(`a${one.join("")}b`)).toBe(normalizeName(`a${other.join("")}b`));
      }),
    );
  });
});
