// Decides whether an answer counts as delivered, by its status alone.
import type { Failure } from "./failure.ts";
import { redirectShownMaxChars } from "./sending-limits.ts";

const redirectStatuses: ReadonlySet<number> = new Set([300, 301, 302, 303, 305, 307, 308]);

/** Null: delivered. */
export function judgeResponse(status: number, headers: Readonly<Record<string, string>>): Failure | null {
  if (status >= 200 && status <= 299) return null;
  if (!redirectStatuses.has(status)) return { code: "status", sentence: `answered ${status}` };
  const to = headers["location"] === undefined ? "" : ` to ${shown(headers["location"])}`;
  return { code: "redirect", sentence: `redirect (${status})${to} was not followed` };
}

function shown(location: string): string {
  const printable = location.replace(/[^\x20-\x7e]/g, "?");
  return printable.length > redirectShownMaxChars
    ? `${printable.slice(0, redirectShownMaxChars)}…`
    : printable;
}
