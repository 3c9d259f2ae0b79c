// An access token as it is stored, and how it is shown: without its hash.
import type { AccessToken, Scope } from "@coinslot/contract";
import type { Queryable } from "../database/connect.ts";

export interface TokenRow {
  readonly id: string;
  readonly label: string;
  readonly scopes: Scope[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
}

export function tokenColumns(sql: Queryable) {
  return sql`id, label, to_json(scopes) AS scopes, created_at, expires_at, last_used_at`;
}

export function showToken(row: TokenRow): AccessToken {
  return {
    id: row.id,
    label: row.label,
    scopes: row.scopes,
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt?.toISOString() ?? null,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  };
}
