// Every limit of sending one webhook, named, with its unit last, and checked when the module loads.
import { limits } from "@coinslot/contract";

/** From the start of the name lookup to the end of the response headers. */
export const ackTimeoutMs = limits.webhookAckTimeoutMs;
/** An attempt is over by then, whatever the receiver does. */
export const attemptMaxMs = ackTimeoutMs + 500;
/** The body is read on, for the log only. Timers fire late, never early: the rest is left for that. */
export const bodyGraceMs = 400;

/** What a receiver may answer. */
export const responseBodyKeepBytes = 16 * 1024;
export const responseHeadersMaxBytes = 16 * 1024;
/** Everything on the wire: 1xx answers, headers, chunk sizes, trailers. A body cut into one-byte chunks fits. */
export const responseMaxBytes = 256 * 1024;
export const retryAfterMaxMs = limits.webhookRetrySpanMs;
export const redirectShownMaxChars = 200;

export const rememberedUrlsMaxCount = 1_000;

/** Connections. */
export const originInFlightMaxCount = 256;
export const originIdleMaxCount = 256;
export const idleMaxCount = 500;
export const idleMaxMs = 20_000;
/** A connection stays on the address it was made to, so its age bounds how long a name's old address is used. */
export const connectionMaxAgeMs = 60_000;
/** One address that swallows packets must leave time for the next. */
export const addressTryMs = 2_000;
export const addressTriesMaxCount = 4;

/** Name lookups. */
export const lookupKeepMs = 5_000;
export const failedLookupKeepMs = 2_000;
export const lookupNamesMaxCount = 1_000;
/** dns.lookup blocks a thread of libuv's pool, which has four and signs receipts too. */
export const threadLookupsMaxCount = 2;
export const threadLookupPatienceMs = 500;

function assertLimit(holds: boolean, sentence: string): void {
  if (!holds) throw new Error(`Impossible limits: ${sentence}`);
}

assertLimit(ackTimeoutMs + bodyGraceMs < attemptMaxMs, "an attempt must outlast the reading of its body");
assertLimit(responseMaxBytes > responseBodyKeepBytes + responseHeadersMaxBytes, "an answer must fit");
assertLimit(addressTryMs * addressTriesMaxCount < ackTimeoutMs, "every address must get its turn");
assertLimit(idleMaxMs <= connectionMaxAgeMs, "an idle connection must not outlive the oldest");
assertLimit(
  originInFlightMaxCount <= originIdleMaxCount,
  "a full round must not close what the next one needs",
);
assertLimit(originIdleMaxCount <= idleMaxCount, "one origin must fit among all");
