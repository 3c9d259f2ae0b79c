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

export function createLog(level: LogLevel, destination?: DestinationStream): Log {
  const options = { level, base: null, serializers: { err: describeError } };
  return destination ? pino(options, destination) : pino(options);
}
