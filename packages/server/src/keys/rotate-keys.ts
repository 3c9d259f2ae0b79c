// Rotation: the next key, long published, starts to sign; the one before it retires and its private half is destroyed.
import { limits } from "@coinslot/contract";
import type { Sql, Tx } from "../database/connect.ts";
import { ensureKeys, type KeyDeps } from "./ensure-keys.ts";

/** Receivers may hold the key set this long; a key that signs earlier would be unknown to some of them. */
const publishedForMs = 2 * limits.jwksMaxAgeMs;

export type RotateOutcome =
  | { readonly rotated: true; readonly activeKid: string; readonly retiredKid: string }
  | { readonly rotated: false; readonly readyAt: Date };

export async function rotateKeys(
  sql: Sql,
  deps: KeyDeps,
  options: { evenIfUnpublished: boolean },
): Promise<RotateOutcome> {
  return sql.begin(async (tx) => {
    const rows = await lockSeats(tx);
    const next = rows.find((row) => row.state === "NEXT");
    const active = rows.find((row) => row.state === "ACTIVE");
    if (next === undefined || active === undefined) throw new Error("The signing keys are incomplete.");
    const readyAt = new Date(next.createdAt.getTime() + publishedForMs);
    if (!options.evenIfUnpublished && readyAt.getTime() > deps.clock.nowMs())
      return { rotated: false, readyAt };
    const now = new Date(deps.clock.nowMs());
    await tx`
      UPDATE signing_keys SET state = 'RETIRED', private_sealed = NULL, retired_at = ${now} WHERE kid = ${active.kid}`;
    await promoteNext(tx, now);
    await ensureKeys(tx, deps);
    return { rotated: true, activeKid: next.kid, retiredKid: active.kid };
  });
}

interface Seat {
  readonly kid: string;
  readonly state: "ACTIVE" | "NEXT";
  readonly createdAt: Date;
}

/**
 * One rotation or revocation at a time; reading goes on. The table is locked rather than the rows: who waits for rows
 * reads them as they were listed before the wait, and would miss the next key that was made meanwhile.
 */
export async function lockSeats(tx: Tx): Promise<Seat[]> {
  await tx`LOCK TABLE signing_keys IN SHARE ROW EXCLUSIVE MODE`;
  return tx<Seat[]>`SELECT kid, state, created_at FROM signing_keys WHERE state IN ('ACTIVE', 'NEXT')`;
}

export async function promoteNext(tx: Tx, now: Date): Promise<void> {
  await tx`UPDATE signing_keys SET state = 'ACTIVE', activated_at = ${now} WHERE state = 'NEXT'`;
}
