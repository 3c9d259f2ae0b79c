// Revocation of a compromised key: it is published no more, and every receipt it signed is signed anew.
import { receiptTyp } from "@coinslot/contract";
import { decodeJwt } from "jose";
import { type Sql, statementTimeoutMs } from "../database/connect.ts";
import { ensureKeys, type KeyDeps } from "./ensure-keys.ts";
import type { Keyring } from "./keyring.ts";
import { lockSeats, promoteNext } from "./rotate-keys.ts";
import { signToken } from "./sign-token.ts";

const batchCount = 1_000;

export type RevokeProgress = (resigned: number) => void;

/** False when there is no such key, or it was revoked before (its receipts are looked through again all the same). */
export async function revokeKey(sql: Sql, deps: KeyDeps, kid: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    await lockSeats(tx);
    const now = new Date(deps.clock.nowMs());
    const revoked = await tx<{ kid: string }[]>`
      UPDATE signing_keys SET state = 'REVOKED', private_sealed = NULL, revoked_at = ${now}
      WHERE kid = ${kid} AND state <> 'REVOKED' RETURNING kid`;
    if (revoked.length === 0) return false;
    const [active] = await tx`SELECT 1 FROM signing_keys WHERE state = 'ACTIVE'`;
    if (active === undefined) await promoteNext(tx, now);
    await ensureKeys(tx, deps);
    return true;
  });
}

/**
 * Signs the receipts of a revoked key anew, with the same claims. Every statement that writes events refuses a
 * revoked key, but one that began just before the revocation may still commit: the last pass therefore starts
 * after the longest time that such a statement can run.
 */
export async function resignReceipts(
  deps: { sql: Sql; keyring: Keyring; clock: KeyDeps["clock"] },
  kid: string,
  onProgress: RevokeProgress,
): Promise<number> {
  await deps.keyring.refresh();
  const settledAtMs = deps.clock.nowMs() + statementTimeoutMs + 1_000;
  let count = await resignPass(deps, kid, 0, onProgress);
  await deps.clock.sleep(settledAtMs - deps.clock.nowMs());
  count = await resignPass(deps, kid, count, onProgress);
  return count;
}

async function resignPass(
  { sql, keyring }: { sql: Sql; keyring: Keyring },
  kid: string,
  before: number,
  onProgress: RevokeProgress,
): Promise<number> {
  let count = before;
  let last = { gameId: "", position: "0" };
  for (;;) {
    // A window of the events at a time: looking for the key through all of them outlasts the statement timeout.
    const looked = await sql<{ gameId: string; position: string; receiptJwt: string | null }[]>`
      SELECT game_id, position, CASE WHEN kid = ${kid} THEN receipt_jwt END AS receipt_jwt FROM events
      WHERE (game_id, position) > (${last.gameId}, ${last.position})
      ORDER BY game_id, position LIMIT ${batchCount}`;
    const end = looked.at(-1);
    if (end === undefined) return count;
    last = end;
    const rows = looked.filter((row): row is typeof row & { receiptJwt: string } => row.receiptJwt !== null);
    if (rows.length === 0) continue;
    const key = keyring.active();
    const receipts = await Promise.all(
      rows.map((row) => signToken(key, receiptTyp, decodeJwt(row.receiptJwt))),
    );
    await sql`
      UPDATE events SET receipt_jwt = signed.receipt_jwt, kid = ${key.kid}
      FROM unnest(${rows.map((row) => row.gameId)}::text[], ${rows.map((row) => row.position)}::bigint[], ${receipts}::text[])
        AS signed (game_id, position, receipt_jwt)
      WHERE events.game_id = signed.game_id AND events.position = signed.position AND events.kid = ${kid}
        AND EXISTS (SELECT FROM signing_keys WHERE kid = ${key.kid} AND state <> 'REVOKED')`;
    count += rows.length;
    onProgress(count);
  }
}
