// Retry-After in all its forms.
import { describe, expect, it } from "vitest";
import { parseRetryAfter } from "../../../src/webhooks/sending/retry-after.ts";

const date = "Wed, 21 Oct 2026 07:28:00 GMT";
const spanMs = 72 * 60 * 60 * 1000;

describe("Retry-After", () => {
  it.each<[string, Record<string, string>, number | null]>([
    ["none", {}, null],
    ["seconds", { "retry-after": "120" }, 120_000],
    ["zero", { "retry-after": "0" }, 0],
    ["with spaces", { "retry-after": " 7 " }, 7_000],
    ["more than three days", { "retry-after": "999999999999" }, spanMs],
    ["absurdly many digits", { "retry-after": "9".repeat(400) }, null],
    ["negative", { "retry-after": "-5" }, null],
    ["a fraction", { "retry-after": "1.5" }, null],
    ["words", { "retry-after": "soon" }, null],
    ["empty", { "retry-after": "" }, null],
    ["a date", { "retry-after": "Wed, 21 Oct 2026 07:30:00 GMT", date }, 120_000],
    ["a date in the past", { "retry-after": "Wed, 21 Oct 2020 07:30:00 GMT", date }, 0],
    ["a date years ahead", { "retry-after": "Wed, 21 Oct 2099 07:30:00 GMT", date }, spanMs],
    ["an old form of date", { "retry-after": "Wednesday, 21-Oct-26 07:29:00 GMT", date }, 60_000],
    ["the oldest form of date", { "retry-after": "Wed Oct 21 07:29:00 2026", date }, 60_000],
    ["a date without a Date to count from", { "retry-after": "Wed, 21 Oct 2026 07:30:00 GMT" }, null],
    ["a date of another kind", { "retry-after": "2026-10-21T07:30:00Z", date }, null],
  ])("%s", (_what, headers, waitMs) => {
    expect(parseRetryAfter(headers)).toBe(waitMs);
  });
});
