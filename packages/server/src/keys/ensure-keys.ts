// Makes the first signing keys: one that signs, and the next one, published long before it is needed.
import type { Clock } from "../clock.ts";
import type { Queryable } from "../database/connect.ts";
import type { Ids } from "../ids.ts";
import { generateSigningKey, type SigningKeyState } from "./signing-key.ts";

export interface KeyDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly masterKey: Buffer;
}

/** Fills the seats that are empty. Safe when several processes do it at once: each seat takes one key. */
export async function ensureKeys(sql: Queryable, deps: KeyDeps): Promise<void> {
  const rows = await sql<
    { state: SigningKeyState }[]
  >`SELECT state FROM signing_keys WHERE state IN ('ACTIVE', 'NEXT')`;
  for (const state of ["ACTIVE", "NEXT"] as const) {
    if (rows.some((row) => row.state === state)) continue;
    const { kid, publicJwk, privateSealed } = await generateSigningKey(deps.ids, deps.masterKey);
    const now = new Date(deps.clock.nowMs());
    await sql`
      INSERT INTO signing_keys (kid, state, public_jwk, private_sealed, created_at, activated_at)
      VALUES (${kid}, ${state}, ${sql.json(publicJwk as never)}, ${privateSealed}, ${now}, ${state === "ACTIVE" ? now : null})
      ON CONFLICT DO NOTHING`;
  }
}
