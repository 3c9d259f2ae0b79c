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

/**
 * One household or host has a whole /64 of IPv6 to choose addresses from, so it counts as one. An IPv4 address
 * that is mapped into IPv6 counts as itself: all of them are in one /64.
 */
export function addressKey(address: string): string {
  if (!isIPv6(address)) return address;
  const groups = readGroups(address);
  const [high = 0, low = 0] = groups.slice(6);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  return groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":");
}

/** The eight numbers of an IPv6 address, which has many spellings. */
function readGroups(address: string): number[] {
  const [plain = ""] = address.split("%", 1);
  const [head = "", tail] = plain.split("::");
  const before = readPart(head);
  const after = readPart(tail ?? "");
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function readPart(part: string): number[] {
  if (part === "") return [];
  return part.split(":").flatMap((group) => {
    if (!group.includes(".")) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
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
