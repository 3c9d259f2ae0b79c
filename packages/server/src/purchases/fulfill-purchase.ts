// Marks a consumable purchase as fulfilled, exactly once however often and however concurrently it is asked.
import { type Env, type FulfillStatus, isStorable } from "@coinslot/contract";
import type { Clock } from "../clock.ts";
import type { Sql } from "../database/connect.ts";
import { groupCalls } from "../database/group-calls.ts";
import { ApiError } from "../http/api-error.ts";

export interface FulfillInput {
  readonly purchaseId: string;
  /** The buyer and the environment that the credential speaks for; another's purchase is not found. */
  readonly userId: string;
  readonly env: Env;
  readonly by: "RECEIPT" | "PLAYER";
}

export type FulfillOutcome = FulfillStatus | "NOT_FOUND";
export type FulfillPurchase = (gameId: string, input: FulfillInput) => Promise<FulfillStatus>;

export function createFulfillPurchase({ sql, clock }: { sql: Sql; clock: Clock }): FulfillPurchase {
  const fulfill = groupCalls<FulfillInput, FulfillOutcome>({
    run: (gameId, items) => fulfillPurchases(sql, gameId, items, new Date(clock.nowMs())),
    groupMaxCount: 24,
    runningMaxCount: 4,
    waitingMaxCount: 10_000,
  });
  return async (gameId, input) => {
    const outcome = isStorable(input.purchaseId) ? await fulfill(gameId, input) : "NOT_FOUND";
    if (outcome !== "NOT_FOUND") return outcome;
    throw new ApiError("not_found", "The purchase does not exist or was refunded. Do not grant it.", {
      status: "NOT_FOUND",
    });
  };
}

/**
 * One statement for purchases of one game. Rows are locked in the order of their ids, so two groups cannot
 * deadlock; what is read under the lock is the latest state, so a committed refund is always seen.
 */
export async function fulfillPurchases(
  sql: Sql,
  gameId: string,
  items: readonly FulfillInput[],
  now: Date,
): Promise<FulfillOutcome[]> {
  // The first call for a purchase decides who fulfilled it; the others in the group come after it.
  const first = new Map<string, FulfillInput>();
  for (const item of items) if (!first.has(keyOf(item))) first.set(keyOf(item), item);
  const asked = [...first.values()];
  const rows = await sql<{ purchaseId: string; userId: string; env: Env; outcome: FulfillOutcome }[]>`
    WITH asked AS (
      SELECT * FROM unnest(
        ${asked.map((item) => item.purchaseId)}::text[], ${asked.map((item) => item.userId)}::text[],
        ${asked.map((item) => item.env)}::text[], ${asked.map((item) => item.by)}::text[]
      ) AS a (purchase_id, user_id, env, by)
    ),
    found AS (
      SELECT p.purchase_id, p.user_id, p.env, p.state, p.type, asked.by
      FROM asked JOIN purchases p USING (purchase_id, user_id, env)
      WHERE p.game_id = ${gameId}
      ORDER BY p.purchase_id
      FOR UPDATE OF p
    ),
    done AS (
      UPDATE purchases p SET state = 'FULFILLED', fulfilled_at = ${now}, fulfilled_by = found.by
      FROM found
      WHERE p.game_id = ${gameId} AND p.purchase_id = found.purchase_id
        AND p.state = 'COMPLETED' AND p.type = 'CONSUMABLE'
      RETURNING p.purchase_id
    )
    SELECT found.purchase_id, found.user_id, found.env, CASE
        WHEN done.purchase_id IS NOT NULL THEN 'FULFILLED'
        WHEN found.state = 'REFUNDED' THEN 'NOT_FOUND'
        ELSE 'ALREADY_FULFILLED'
      END AS outcome
    FROM found LEFT JOIN done USING (purchase_id)`;

  const outcomes = new Map(rows.map((row) => [keyOf(row), row.outcome]));
  return items.map((item) => {
    const key = keyOf(item);
    const outcome = outcomes.get(key) ?? "NOT_FOUND";
    if (outcome === "FULFILLED" && first.get(key) !== item) return "ALREADY_FULFILLED";
    return outcome;
  });
}

function keyOf(item: Pick<FulfillInput, "purchaseId" | "userId" | "env">): string {
  return JSON.stringify([item.purchaseId, item.userId, item.env]);
}
