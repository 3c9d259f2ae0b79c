// Lists a page at a time: `limit` and an opaque `cursor` in, the items and `nextCursor` out.
import { limits } from "@coinslot/contract";
import { z } from "zod";
import { invalidInput } from "./api-error.ts";

const wholeNumber = z.string().regex(/^\d{1,6}$/, { error: "must be a whole number" });

export const pageQuery = z.object({
  limit: wholeNumber
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= limits.pageMaxCount, {
      error: `must be from 1 to ${limits.pageMaxCount}`,
    })
    .default(limits.pageDefaultCount)
    .describe(`How many at most: 1 to ${limits.pageMaxCount}, by default ${limits.pageDefaultCount}.`)
    // In an address it is text; what it spells is a whole number, and that is what the API's description says.
    .meta({
      type: "integer",
      minimum: 1,
      maximum: limits.pageMaxCount,
      default: limits.pageDefaultCount,
    }),
  cursor: z
    .string()
    .max(200)
    .optional()
    .describe("Where to go on: `nextCursor` of the page before. Left out: from the start."),
});

/** A cursor is the sort key of the last item of a page; callers must not read it, so it is encoded. */
export function encodeCursor(key: string): string {
  return Buffer.from(key).toString("base64url");
}

export function decodeCursor(cursor: string | undefined, form: RegExp, field = "cursor"): string | null {
  if (cursor === undefined) return null;
  const key = Buffer.from(cursor, "base64url").toString("utf8");
  if (!form.test(key) || encodeCursor(key) !== cursor) {
    throw invalidInput(`${field}: is not a cursor of this list; start again without one.`, field);
  }
  return key;
}

/** Cuts the one row too many that was read to know whether there is a next page. */
export function cutPage<Row>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => string,
): { page: Row[]; nextCursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { page, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(keyOf(last)) : null };
}
