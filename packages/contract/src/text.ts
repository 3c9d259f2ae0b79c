// Text as callers may send it: well-formed Unicode without NUL, counted in code points.
import { z } from "zod";

/** PostgreSQL stores no NUL, and a lone surrogate would be silently replaced: both are refused at the edge. */
export function isStorable(value: string): boolean {
  return value.isWellFormed() && !value.includes("\u0000");
}

/** Counts code points without building an array of them. */
function countChars(value: string): number {
  let count = 0;
  for (const _ of value) count++;
  return count;
}

/** A string of `min` to `max` Unicode code points. */
export function text(min: number, max: number) {
  const length = min === 0 ? `at most ${max} characters` : `${min} to ${max} characters`;
  return z
    .string()
    .refine(isStorable, { error: "must be well-formed Unicode text without NUL characters", abort: true })
    .refine(
      (value) => {
        // A code point is one or two UTF-16 units: most values are decided without counting.
        if (value.length < min || value.length > max * 2) return false;
        if (value.length <= max && min <= 1) return true;
        const count = countChars(value);
        return count >= min && count <= max;
      },
      { error: `must have ${length}` },
    )
    .meta({ minLength: min, maxLength: max });
}

/** Text that is shown in lists and logs: no control characters at all. */
export function label(min: number, max: number) {
  return text(min, max).refine((value) => !/\p{Cc}/u.test(value), {
    error: "must not contain control characters",
  });
}

/** A moment as callers send it: ISO 8601 with a zone, within the years that every part can hold. */
export const timestamp = z.iso
  .datetime({ offset: true, error: "must be an ISO 8601 time such as 2027-01-31T12:00:00Z" })
  .refine((value) => !Number.isNaN(Date.parse(value)), {
    error: "must be an ISO 8601 time such as 2027-01-31T12:00:00Z",
  });

/** A moment as the service sends it: ISO 8601, UTC, milliseconds. */
export const utcTime = z.iso.datetime();
