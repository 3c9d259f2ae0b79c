// The statement that records purchases of one game: each with its event, its delivery and its idempotency key.
import type { Sql } from "../database/connect.ts";
import { expiredBefore, type IdempotencyKey } from "../http/idempotency.ts";
import type { PurchaseRow } from "./purchase-row.ts";

export interface NewPurchase {
  readonly purchase: PurchaseRow;
  readonly priceAmount: number;
  readonly priceCurrency: string;
  readonly eventId: string;
  readonly deliveryId: string;
  readonly receiptJwt: string;
  readonly kid: string;
  readonly idempotency: { readonly key: IdempotencyKey; readonly answer: Buffer } | null;
}

/**
 * RECORDED, or why not: the idempotency key was used before, or the key that signed the receipt has been revoked
 * in the meantime. Either way nothing of that purchase was written.
 */
export type InsertOutcome = "RECORDED" | "REPEATED" | "KEY_REVOKED";

/**
 * One statement, one commit, for the whole group. The locks are taken in one order in every process (idempotency
 * keys sorted, then the feed's row), so groups cannot deadlock.
 */
export async function insertPurchases(
  sql: Sql,
  gameId: string,
  purchases: readonly NewPurchase[],
  nowMs: number,
): Promise<InsertOutcome[]> {
  // Of two purchases with one idempotency key the first is written; the other repeats it.
  const unique = new Map<string, NewPurchase>();
  for (const item of purchases) if (!unique.has(identityOf(item))) unique.set(identityOf(item), item);
  const sorted = [...unique].sort(([a], [b]) => compare(a, b)).map(([, item]) => item);
  const column = <T>(read: (item: NewPurchase) => T): T[] => sorted.map(read);
  const at = column((item) => item.purchase.purchasedAt.toISOString());
  const rows = await sql<{ purchaseId: string; outcome: InsertOutcome }[]>`
    WITH asked AS (
      SELECT * FROM unnest(
        ${column((item) => item.purchase.purchaseId)}::text[], ${column((item) => item.purchase.userId)}::text[],
        ${column((item) => item.purchase.contentIdentifier)}::text[], ${column((item) => item.purchase.type)}::text[],
        ${column((item) => item.purchase.env)}::text[], ${column((item) => item.purchase.source)}::text[],
        ${at}::timestamptz[], ${column((item) => item.priceAmount)}::int[],
        ${column((item) => item.priceCurrency)}::text[], ${column((item) => item.eventId)}::text[],
        ${column((item) => item.deliveryId)}::text[], ${column((item) => item.receiptJwt)}::text[],
        ${column((item) => item.kid)}::text[], ${column((item) => item.idempotency?.key.operation ?? null)}::text[],
        ${column((item) => item.idempotency?.key.caller ?? null)}::text[],
        ${column((item) => item.idempotency?.key.key ?? null)}::text[],
        ${column((item) => item.idempotency?.key.requestHash.toString("hex") ?? null)}::text[],
        ${column((item) => item.idempotency?.answer.toString("hex") ?? null)}::text[]
      ) WITH ORDINALITY AS a (
        purchase_id, user_id, content_identifier, type, env, source, at, price_amount, price_currency, event_id,
        delivery_id, receipt_jwt, kid, operation, caller, key, request_hash, answer, number
      )
    ),
    signed AS (
      SELECT asked.* FROM asked JOIN signing_keys k ON k.kid = asked.kid AND k.state <> 'REVOKED'
    ),
    claimed AS (
      INSERT INTO idempotency_keys (game_id, operation, caller, key, request_hash, answer, created_at)
      SELECT ${gameId}, operation, caller, key, decode(request_hash, 'hex'), decode(answer, 'hex'), at
      FROM signed WHERE key IS NOT NULL ORDER BY number
      ON CONFLICT (game_id, operation, caller, key) DO UPDATE
        SET request_hash = excluded.request_hash, answer = excluded.answer, created_at = excluded.created_at
        WHERE idempotency_keys.created_at < ${expiredBefore(nowMs)}
      RETURNING operation, caller, key
    ),
    accepted AS (
      SELECT signed.* FROM signed
      WHERE key IS NULL OR (operation, caller, key) IN (SELECT operation, caller, key FROM claimed)
    ),
    feed AS (
      UPDATE game_feeds SET last_position = last_position + ${sorted.length}
      WHERE game_id = ${gameId} AND EXISTS (SELECT FROM accepted)
      RETURNING last_position - ${sorted.length} AS base
    ),
    new_purchases AS (
      INSERT INTO purchases (game_id, purchase_id, user_id, content_identifier, type, env, source, state,
        price_amount, price_currency, purchased_at)
      SELECT ${gameId}, purchase_id, user_id, content_identifier, type, env, source, 'COMPLETED',
        price_amount, price_currency, at
      FROM accepted
    ),
    new_events AS (
      INSERT INTO events (game_id, position, id, event, env, purchase_id, kid, receipt_jwt, created_at)
      SELECT ${gameId}, feed.base + number, event_id, 'purchase.completed', env, purchase_id, kid, receipt_jwt, at
      FROM accepted, feed
    ),
    new_deliveries AS (
      INSERT INTO deliveries (game_id, id, event_position, env, state, attempt_count, next_attempt_at, created_at)
      SELECT ${gameId}, delivery_id, feed.base + number, accepted.env,
        CASE WHEN url <> '' THEN 'PENDING' ELSE 'NOT_SENT' END, 0, CASE WHEN url <> '' THEN at END, at
      FROM accepted CROSS JOIN feed
      LEFT JOIN webhook_endpoints w ON w.game_id = ${gameId} AND w.env = accepted.env
    )
    SELECT asked.purchase_id, CASE
        WHEN accepted.purchase_id IS NOT NULL THEN 'RECORDED'
        WHEN signed.purchase_id IS NOT NULL THEN 'REPEATED'
        ELSE 'KEY_REVOKED'
      END AS outcome
    FROM asked LEFT JOIN signed USING (purchase_id) LEFT JOIN accepted USING (purchase_id)`;
  const outcomes = new Map(rows.map((row) => [row.purchaseId, row.outcome]));
  return purchases.map((item) => {
    const leader = unique.get(identityOf(item)) ?? item;
    const outcome = outcomes.get(leader.purchase.purchaseId) ?? "KEY_REVOKED";
    // Of two with one key the second repeats the first, if that one was recorded.
    return leader !== item && outcome === "RECORDED" ? "REPEATED" : outcome;
  });
}

/** What makes a purchase one of a kind within its game: its idempotency key, else its own id. */
function identityOf(item: NewPurchase): string {
  const key = item.idempotency?.key;
  return key === undefined ? item.purchase.purchaseId : JSON.stringify([key.operation, key.caller, key.key]);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
