// The log: one JSON object a line on standard output, scrubbed of tokens and receipts.
import { type DestinationStream, type Logger, pino } from "pino";
import type { LogLevel } from "./config.ts";

export type Log = Logger;

/** Access and operator tokens, and anything that looks like a JWT or a piece of one. */
const secrets = /(cst|cso)_[0-9A-Za-z]+|eyJ[0-9A-Za-z_-]*(?:\.[0-9A-Za-z_-]*)*|Bearer\s+\S+/g;

/** Takes secrets out of text that came from a caller or an error before it is logged. */
export function scrub(text: string): string {
  return text.replace(secrets, "[secret]");
}

function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: scrub(String(error)) };
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  return {
    type: error.name,
    message: scrub(error.message),
    ...(code === undefined ? {} : { code }),
    stack: scrub(error.stack ?? ""),
  };
}

/** Lines are written together, within this time: a write for each was a twentieth of what a fulfil costs. */
const flushEveryMs = 500;

export function createLog(level: LogLevel, destination: DestinationStream = standardOutput()): Log {
  return pino({ level, base: null, serializers: { err: describeError } }, destination);
}

function standardOutput(): DestinationStream {
  const out = pino.destination({ fd: 1, sync: false, minLength: 8 * 1024 });
  const flush = setInterval(() => out.flush(), flushEveryMs);
  flush.unref();
  process.on("exit", () => {
    try {
      out.flushSync();
    } catch {
      // Nothing was ever written, or the reader is gone.
    }
  });
  return out;
}
