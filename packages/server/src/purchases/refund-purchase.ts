// Refunds a purchase, once: a refund is final, and its receipt and delivery commit with it.
import type { Purchase } from "@coinslot/contract";
import { ApiError, notFound } from "../http/api-error.ts";
import { signReceipt } from "../receipts/sign-receipt.ts";
import { type PurchaseRow, purchaseColumns, showPurchase } from "./purchase-row.ts";
import type { PurchaseDeps } from "./record-purchase.ts";

export async function refundPurchase(
  deps: PurchaseDeps,
  gameId: string,
  purchaseId: string,
  reason: string | null,
): Promise<Purchase> {
  // The second round is for when nothing was written: another refund came first, or the signing key was just revoked.
  for (let round = 0; round < 2; round++) {
    const purchase = await readPurchase(deps, gameId, purchaseId);
    if (purchase.state === "REFUNDED") return showPurchase(purchase);
    const refunded = await writeRefund(deps, gameId, purchase, reason);
    if (refunded !== null) {
      deps.onEvents(gameId, purchase.env);
      return showPurchase(refunded);
    }
    await deps.keyring.refresh();
  }
  // Somebody else's refund came first, or the key was revoked twice in a moment.
  const purchase = await readPurchase(deps, gameId, purchaseId);
  if (purchase.state === "REFUNDED") return showPurchase(purchase);
  throw new ApiError("unavailable", "The signing key is being replaced. Try again.", { retryAfterS: 1 });
}

async function readPurchase(deps: PurchaseDeps, gameId: string, purchaseId: string): Promise<PurchaseRow> {
  const [row] = await deps.sql<PurchaseRow[]>`
    SELECT ${purchaseColumns(deps.sql)} FROM purchases WHERE game_id = ${gameId} AND purchase_id = ${purchaseId}`;
  if (row === undefined) throw notFound("The game has no such purchase.");
  return row;
}

/** Null when the purchase was refunded by another call meanwhile, or the signing key was revoked. */
async function writeRefund(
  deps: PurchaseDeps,
  gameId: string,
  purchase: PurchaseRow,
  reason: string | null,
): Promise<PurchaseRow | null> {
  const { sql } = deps;
  const refundedAt = new Date(deps.clock.nowMs());
  const eventId = deps.ids("evt");
  const { receiptJwt, kid } = await signReceipt(deps.keyring, deps.authUrl, {
    ...purchase,
    gameId,
    event: "purchase.refunded",
    eventId,
    eventAt: refundedAt,
    refundedAt,
  });
  // The feed's row is taken only after the purchase's: two refunds of one purchase cannot deadlock.
  const [row] = await sql<PurchaseRow[]>`
    WITH refunded AS (
      UPDATE purchases SET state = 'REFUNDED', refunded_at = ${refundedAt}, refund_reason = ${reason}
      WHERE game_id = ${gameId} AND purchase_id = ${purchase.purchaseId} AND state <> 'REFUNDED'
        AND EXISTS (SELECT FROM signing_keys WHERE kid = ${kid} AND state <> 'REVOKED')
      RETURNING ${purchaseColumns(sql)}
    ),
    feed AS (
      UPDATE game_feeds SET last_position = last_position + 1
      WHERE game_id = ${gameId} AND EXISTS (SELECT FROM refunded)
      RETURNING last_position AS position
    ),
    new_event AS (
      INSERT INTO events (game_id, position, id, event, env, purchase_id, kid, receipt_jwt, created_at)
      SELECT ${gameId}, position, ${eventId}, 'purchase.refunded', env, purchase_id, ${kid}, ${receiptJwt}, ${refundedAt}
      FROM refunded, feed
    ),
    new_delivery AS (
      INSERT INTO deliveries (game_id, id, event_position, env, state, attempt_count, next_attempt_at, created_at)
      SELECT ${gameId}, ${deps.ids("dlv")}, position, refunded.env,
        CASE WHEN url <> '' THEN 'PENDING' ELSE 'NOT_SENT' END, 0,
        CASE WHEN url <> '' THEN ${refundedAt}::timestamptz END, ${refundedAt}
      FROM refunded CROSS JOIN feed
      LEFT JOIN webhook_endpoints w ON w.game_id = ${gameId} AND w.env = refunded.env
    )
    SELECT * FROM refunded`;
  return row ?? null;
}
