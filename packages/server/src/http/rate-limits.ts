// The limits on requests: by address, by credential, and a tighter one on failed credentials.
import { isIPv6 } from "node:net";
import type { FastifyReply } from "fastify";
import type { Clock } from "../clock.ts";
import type { RateLimits } from "../config.ts";
import { ApiError } from "./api-error.ts";
import { burstWindowS, createRateLimiter, type Verdict } from "./rate-limiter.ts";

export interface RequestLimits {
  takeAddress(address: string, reply: FastifyReply): void;
  takeCredential(credential: string, reply: FastifyReply): void;
  /** Whether an address may still be told that its credential failed; past it, it is told to slow down. */
  takeFailure(address: string): boolean;
}

/** One household or host has a whole /64 of IPv6 to choose addresses from, so it counts as one. */
export function addressKey(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const after = tail === "" ? [] : tail.split(":");
    while (groups.length + after.length < 8) groups.push("0");
    groups.push(...after);
  }
  return groups.slice(0, 4).join(":");
}

export function createRequestLimits(rates: RateLimits, clock: Clock): RequestLimits {
  const addresses = createRateLimiter(rates.address, clock);
  const credentials = createRateLimiter(rates.credential, clock);
  const failures = createRateLimiter(rates.failed, clock);

  const apply = (policy: string, verdict: Verdict, reply: FastifyReply): void => {
    if (verdict.limit === 0) return;
    reply.headers({
      ratelimit: `"${policy}";r=${verdict.remaining};t=${verdict.resetS}`,
      "ratelimit-policy": `"${policy}";q=${verdict.limit};w=${burstWindowS}`,
      "ratelimit-limit": verdict.limit,
      "ratelimit-remaining": verdict.remaining,
      "ratelimit-reset": verdict.resetS,
    });
    if (!verdict.allowed) throw tooMany(verdict.resetS);
  };

  return {
    takeAddress: (address, reply) => apply("address", addresses.take(addressKey(address)), reply),
    takeCredential: (credential, reply) => apply("credential", credentials.take(credential), reply),
    takeFailure: (address) => failures.take(addressKey(address)).allowed,
  };
}

export function tooMany(resetS: number): ApiError {
  const retryAfterS = Math.max(1, resetS);
  return new ApiError("rate_limited", `Too many requests. Try again in ${retryAfterS} s.`, { retryAfterS });
}
