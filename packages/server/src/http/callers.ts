// Who is asking: reads the credential of a request, and decides whether its holder may call a route.
import { createHash, timingSafeEqual } from "node:crypto";
import type { Env, Scope } from "@coinslot/contract";
import { forbidden, unauthorized } from "./api-error.ts";
import type { Grant } from "./route.ts";

export type Caller =
  | { readonly kind: "anyone" }
  | { readonly kind: "operator" }
  | {
      readonly kind: "token";
      readonly tokenId: string;
      readonly gameId: string;
      readonly scopes: readonly Scope[];
    }
  | { readonly kind: "player"; readonly gameId: string; readonly userId: string; readonly env: Env };

/** How each kind of credential is looked up; null means that it is not good. */
export interface CallerDeps {
  readonly operatorTokenHash: Buffer;
  readonly findToken: (
    token: string,
  ) => Promise<{ id: string; gameId: string; scopes: readonly Scope[] } | null>;
  readonly findPlayer: (userJwt: string) => Promise<{ gameId: string; userId: string; env: Env } | null>;
}

/** What is stored of a token, and compared. A plain hash is enough: tokens that we make have 256 random bits. */
export function hashCredential(credential: string): Buffer {
  return createHash("sha256").update(credential).digest();
}

/** A name for the caller that is fit for logs, rate limits and idempotency keys. */
export function nameCaller(caller: Caller): string {
  switch (caller.kind) {
    case "token":
      return `token:${caller.tokenId}`;
    case "player":
      return `player:${caller.gameId}:${caller.userId}`;
    default:
      return caller.kind;
  }
}

export async function identifyCaller(deps: CallerDeps, authorization: string | undefined): Promise<Caller> {
  if (authorization === undefined) throw unauthorized("Send a credential: Authorization: Bearer <token>.");
  const credential = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  if (credential === undefined) throw unauthorized("The Authorization header must read: Bearer <token>.");
  // Hashes have one length and are compared in constant time.
  if (timingSafeEqual(hashCredential(credential), deps.operatorTokenHash)) return { kind: "operator" };
  if (credential.startsWith("cst_")) {
    const token = await deps.findToken(credential);
    if (token === null) throw unauthorized("The access token is unknown, expired or revoked.");
    return { kind: "token", tokenId: token.id, gameId: token.gameId, scopes: token.scopes };
  }
  const player = await deps.findPlayer(credential);
  if (player === null) throw unauthorized("The credential is not valid, or has expired.");
  return { kind: "player", ...player };
}

/** A caller of one game learns nothing about another, not even whether it exists. */
export function authorizeCaller(caller: Caller, who: readonly Grant[], gameId: string | undefined): void {
  if (caller.kind === "anyone") return;
  if (caller.kind === "operator") {
    if (!who.includes("operator")) throw forbidden("Only a player's own token may call this.");
    return;
  }
  if (gameId === undefined) throw forbidden("Only the operator may call this.");
  if (caller.gameId !== gameId) throw forbidden("The credential is not for this game.");
  if (caller.kind === "player") {
    if (!who.includes("player")) throw forbidden("A player's token may not call this.");
    return;
  }
  if (caller.scopes.some((scope) => who.includes(scope))) return;
  const scopes = who.filter((grant) => grant.includes(":"));
  throw forbidden(
    scopes.length > 0
      ? `The access token lacks the scope ${scopes.join(" or ")}.`
      : "An access token may not call this.",
  );
}
