// The signing keys as an operator sees them: never the private halves.
import type { Sql } from "../database/connect.ts";
import type { SigningKeyState } from "./signing-key.ts";

export interface ListedKey {
  readonly kid: string;
  readonly state: SigningKeyState;
  readonly createdAt: Date;
  readonly activatedAt: Date | null;
  readonly retiredAt: Date | null;
  readonly revokedAt: Date | null;
}

export function listKeys(sql: Sql): Promise<ListedKey[]> {
  return sql<ListedKey[]>`
    SELECT kid, state, created_at, activated_at, retired_at, revoked_at FROM signing_keys ORDER BY created_at, kid`;
}
