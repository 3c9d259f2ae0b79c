// Sends one attempt of a delivery and reports all there is to log about it. Knows nothing of retries or databases.
import { setImmediate as turn } from "node:timers/promises";
import { type Attempt, finishedAttempt } from "./attempt.ts";
import { type AttemptClock, startAttemptClock } from "./attempt-clock.ts";
import { buildRequest, rememberTargets } from "./build-request.ts";
import { cachedLookup, type Lookup } from "./cached-lookup.ts";
import { createAddressCheck } from "./check-address.ts";
import { createConnectionPool } from "./connection-pool.ts";
import type { Failure } from "./failure.ts";
import { type AttemptTools, canceled, runAttempt } from "./run-attempt.ts";
import { originInFlightMaxCount, rememberedUrlsMaxCount } from "./sending-limits.ts";
import { createTrust } from "./trust.ts";

export interface SenderOptions {
  /** In production `createSystemLookup()`. */
  readonly lookup: Lookup;
  /** Blocked ranges that webhooks may go to all the same: COINSLOT_WEBHOOK_ALLOW_CIDRS. */
  readonly allowCidrs: readonly string[];
  /** Those of this host's interfaces. */
  readonly ownAddresses: () => readonly string[];
  /** Certificates, as PEM, that are trusted beside those Node trusts. */
  readonly ca?: string | undefined;
  /** Only differences of it are used. */
  readonly nowMs: () => number;
}

export interface Sender {
  /** Resolves by 10.5 s, whatever the receiver does; never rejects. */
  send(url: string, receiptJwt: string, signal?: AbortSignal): Promise<Attempt>;
  /** Cancels what is in flight and drops every connection. */
  close(): Promise<void>;
}

const invalidUrl: Failure = {
  code: "invalid_url",
  sentence: "the URL is not an https:// address without credentials",
};
const busy: Failure = { code: "busy", sentence: "too many requests to this receiver are under way" };

export function createSender(options: SenderOptions): Sender {
  const { nowMs } = options;
  const tools: AttemptTools = {
    connector: {
      lookup: cachedLookup(options.lookup, nowMs),
      isAllowed: createAddressCheck(options),
      secureContext: createTrust(options.ca),
      nowMs,
    },
    pool: createConnectionPool(nowMs),
    nowMs,
  };
  const parseTarget = rememberTargets(rememberedUrlsMaxCount);
  const inFlight = new Map<string, Set<AttemptClock>>();
  let isClosed = false;

  return {
    async send(url, receiptJwt, signal) {
      const target = parseTarget(url);
      if (target === null) return finishedAttempt({}, invalidUrl);
      const request = buildRequest(target, receiptJwt);
      if (isClosed || signal?.aborted) return finishedAttempt(request.headers, canceled);
      const siblings = inFlight.get(target.origin) ?? new Set();
      if (siblings.size >= originInFlightMaxCount) return finishedAttempt(request.headers, busy);
      const clock = startAttemptClock(signal);
      inFlight.set(target.origin, siblings.add(clock));
      try {
        return await runAttempt(tools, request, clock);
      } finally {
        clock.stop();
        siblings.delete(clock);
        if (siblings.size === 0) inFlight.delete(target.origin);
      }
    },

    async close() {
      isClosed = true;
      for (const clock of [...inFlight.values()].flatMap((clocks) => [...clocks])) clock.cancel();
      // What was canceled ends within this turn, and may still hand a connection back.
      await turn();
      tools.pool.clear();
    },
  };
}
