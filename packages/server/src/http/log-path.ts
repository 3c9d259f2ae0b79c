// The path of a request as it may be logged: a credential that was put into it by mistake is not.
import { scrub } from "../log.ts";

/** No credential is shorter than this, and no id that the service makes is as long. */
const credentialMinChars = 32;

export function logPath(url: string): string {
  const path = url.split("?", 1)[0] ?? "";
  return path.split("/").map(logSegment).join("/");
}

/** Looked at without its percent-encoding, in which a credential has many spellings. */
function logSegment(segment: string): string {
  let text: string;
  try {
    text = decodeURIComponent(segment);
  } catch {
    return "[unreadable]";
  }
  if (scrub(text) !== text) return "[secret]";
  return text.length < credentialMinChars ? segment : "[long]";
}
