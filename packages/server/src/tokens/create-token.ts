// Makes an access token for a game. The token itself is answered once and only its hash is kept.
import { type AccessToken, limits, type Scope } from "@coinslot/contract";
import type { Tx } from "../database/connect.ts";
import { conflict, invalidInput } from "../http/api-error.ts";
import { hashCredential } from "../http/callers.ts";
import { createOnce, type IdempotencyDeps, type IdempotencyKey } from "../http/idempotency.ts";
import type { Ids } from "../ids.ts";
import { makeToken } from "./access-token.ts";
import { showToken, type TokenRow, tokenColumns } from "./token-row.ts";

export interface TokenDeps extends IdempotencyDeps {
  readonly ids: Ids;
  readonly randomBytes: (size: number) => Uint8Array;
}

export interface CreateTokenInput {
  readonly label: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: string | null | undefined;
}

export async function createToken(
  deps: TokenDeps,
  gameId: string,
  input: CreateTokenInput,
  idempotency: IdempotencyKey | null,
): Promise<{ token: AccessToken; accessToken: string }> {
  const nowMs = deps.clock.nowMs();
  const expiresAt = input.expiresAt == null ? null : new Date(input.expiresAt);
  return createOnce(deps, idempotency, async (tx: Tx) => {
    // In here, so that a repeat is still answered when the time has passed since.
    if (
      expiresAt !== null &&
      (expiresAt.getTime() <= nowMs || expiresAt.getTime() > nowMs + limits.accessTokenLifetimeMaxMs)
    ) {
      throw invalidInput("expiresAt: must lie in the future, by ten years at most.", "expiresAt");
    }
    const accessToken = makeToken("cst_", deps.randomBytes);
    const [row] = await tx<TokenRow[]>`
      INSERT INTO access_tokens (id, game_id, token_hash, label, scopes, created_at, expires_at)
      SELECT ${deps.ids("tok")}, ${gameId}, ${hashCredential(accessToken)}, ${input.label},
        ${input.scopes as Scope[]}::text[], ${new Date(nowMs)}, ${expiresAt}
      WHERE (SELECT count(*) FROM access_tokens WHERE game_id = ${gameId}) < ${limits.tokensPerGameMaxCount}
      RETURNING ${tokenColumns(tx)}`;
    if (row === undefined) {
      throw conflict(
        `A game has at most ${limits.tokensPerGameMaxCount} access tokens. Delete one that is not used.`,
      );
    }
    return { token: showToken(row), accessToken };
  });
}
