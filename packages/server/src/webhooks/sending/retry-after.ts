// Reads Retry-After, in seconds or as a date, into a bounded wait.
import { retryAfterMaxMs } from "./sending-limits.ts";

/**
 * A date counts from the answer's own Date header, so that a receiver whose clock is wrong still means what it says;
 * without one it is ignored.
 */
export function parseRetryAfter(headers: Readonly<Record<string, string>>): number | null {
  const value = headers["retry-after"]?.trim() ?? "";
  if (/^\d{1,15}$/.test(value)) return Math.min(Number(value) * 1000, retryAfterMaxMs);
  const waitMs = httpDateMs(value) - httpDateMs(headers["date"] ?? "");
  return Number.isFinite(waitMs) ? Math.min(Math.max(waitMs, 0), retryAfterMaxMs) : null;
}

/** Only the three forms of HTTP: Date.parse alone would take "-5" for a year. */
function httpDateMs(text: string): number {
  const good =
    /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text) ||
    /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/.test(text) ||
    /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/.test(text);
  return good ? Date.parse(/GMT$/.test(text) ? text : `${text} GMT`) : Number.NaN;
}
