// Finds the access token behind a credential, and notes now and then that it was used.
import type { Scope } from "@coinslot/contract";
import type { Clock } from "../clock.ts";
import type { Sql } from "../database/connect.ts";
import { hashCredential } from "../http/callers.ts";
import type { Log } from "../log.ts";
import { looksLikeAccessToken } from "./access-token.ts";

/** The last use is written once a minute at most: it costs a write, and nobody needs it finer. */
const lastUseGrainMs = 60_000;

export interface FoundToken {
  readonly id: string;
  readonly gameId: string;
  readonly scopes: readonly Scope[];
}

export async function findToken(
  deps: { sql: Sql; clock: Clock; log: Log },
  token: string,
): Promise<FoundToken | null> {
  if (!looksLikeAccessToken(token)) return null;
  const nowMs = deps.clock.nowMs();
  const [row] = await deps.sql<(FoundToken & { expiresAt: Date | null; lastUsedAt: Date | null })[]>`
    SELECT id, game_id, to_json(scopes) AS scopes, expires_at, last_used_at FROM access_tokens WHERE token_hash = ${hashCredential(token)}`;
  if (row === undefined || (row.expiresAt !== null && row.expiresAt.getTime() <= nowMs)) return null;
  if (row.lastUsedAt === null || nowMs - row.lastUsedAt.getTime() >= lastUseGrainMs) {
    const now = new Date(nowMs);
    // Not awaited: the caller's answer does not depend on it.
    deps.sql`
      UPDATE access_tokens SET last_used_at = ${now}
      WHERE id = ${row.id} AND (last_used_at IS NULL OR last_used_at < ${now})`.catch((error: unknown) =>
      deps.log.warn({ err: error }, "Could not note the use of an access token"),
    );
  }
  return { id: row.id, gameId: row.gameId, scopes: row.scopes };
}
