// Pages: the limit, the cursor, and where the next page begins.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ApiError } from "./api-error.ts";
import { cutPage, decodeCursor, encodeCursor, pageQuery } from "./pages.ts";

const anything = /^.*$/su;

describe("pageQuery", () => {
  it("defaults to 50, and takes 1 to 200", () => {
    expect(pageQuery.parse({}).limit).toBe(50);
    for (const limit of ["1", "200", "007"]) expect(pageQuery.parse({ limit }).limit).toBe(Number(limit));
  });

  it.each(["0", "201", "-1", "1.5", "", " 5", "1e2", "0x10", "ten", "99999999", ["1", "2"]])(
    "refuses limit=%j",
    (limit) => {
      expect(pageQuery.safeParse({ limit }).success).toBe(false);
    },
  );
});

describe("cursors", () => {
  it("come back as what they were made of", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (key) => {
        expect(decodeCursor(encodeCursor(key), anything)).toBe(key);
      }),
    );
  });

  it("are null when none was sent", () => {
    expect(decodeCursor(undefined, anything)).toBeNull();
  });

  it.each(["", "!", "a", "YQ==", "YQ=", "YR", " YQ", "Y Q", "_w", "Yg"])(
    "refuse %j for a list keyed by the letter a",
    (cursor) => {
      expect(() => decodeCursor(cursor, /^a$/)).toThrow(ApiError);
    },
  );

  it("answer junk with invalid_input and the field, or a key, never anything else", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (cursor) => {
        try {
          expect(decodeCursor(cursor, /^[a-z]+$/)).toMatch(/^[a-z]+$/);
        } catch (error) {
          expect(error).toMatchObject({ code: "invalid_input", field: "cursor" });
        }
      }),
    );
  });
});

describe("cutPage", () => {
  it("walks any list to its end, each item once and in order", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.nat(), { maxLength: 60 }),
        fc.integer({ min: 1, max: 10 }),
        (numbers, limit) => {
          const all = numbers.map((n) => String(n).padStart(12, "0")).sort();
          const seen: string[] = [];
          let cursor: string | null = null;
          do {
            const after: string = cursor === null ? "" : (decodeCursor(cursor, anything) ?? "");
            const rows = all.filter((key) => key > after).slice(0, limit + 1);
            const { page, nextCursor }: { page: string[]; nextCursor: string | null } = cutPage(
              rows,
              limit,
              (row) => row,
            );
            expect(page.length).toBeLessThanOrEqual(limit);
            seen.push(...page);
            cursor = nextCursor;
          } while (cursor !== null);
          expect(seen).toEqual(all);
        },
      ),
    );
  });
});
