// Purchases, refunds and the receipt-authenticated fulfil over HTTP.
import {
  contentIdentifier,
  createPurchaseBody,
  env,
  fulfillBody,
  fulfillStatus,
  purchase,
  purchaseState,
  refundPurchaseBody,
  timelineEntry,
  userId,
} from "@coinslot/contract";
import { z } from "zod";
import { invalidInput, notFound, unauthorized } from "../http/api-error.ts";
import { pageQuery } from "../http/pages.ts";
import { pathParams } from "../http/path-params.ts";
import { type Route, route } from "../http/route.ts";
import { cutScannedPage } from "../http/scan-window.ts";
import { TokenError } from "../keys/verify-token.ts";
import { verifyReceipt } from "../receipts/verify-receipt.ts";
import type { FulfillPurchase } from "./fulfill-purchase.ts";
import { listPurchases } from "./list-purchases.ts";
import { type PurchaseRow, purchaseColumns, showPurchase } from "./purchase-row.ts";
import { readTimeline } from "./read-timeline.ts";
import { createRecordPurchase, type PurchaseDeps } from "./record-purchase.ts";
import { refundPurchase } from "./refund-purchase.ts";

const base = "/api/games/{gameId}/purchases";
const tag = "Purchases";

export function purchaseRoutes(deps: PurchaseDeps & { fulfillPurchase: FulfillPurchase }): Route[] {
  const { sql, keyring } = deps;
  const recordPurchase = createRecordPurchase(deps);
  return [
    route({
      method: "POST",
      path: "/api/purchases/{purchaseId}/fulfill",
      tag,
      summary: "Fulfil a purchase",
      description:
        "The receipt is the credential: no Authorization header. Safe to repeat, and safe beside the game's own fulfil. " +
        "Answered 404, the purchase must not be granted.",
      who: ["anyone"],
      // Only compared with what the receipt says.
      params: z.object({ purchaseId: z.string() }),
      body: fulfillBody,
      answer: { status: 200, schema: z.object({ status: fulfillStatus }) },
      errors: ["unauthorized", "not_found"],
      handle: async ({ params, body }) => {
        const claims = await verifyReceipt(keyring, body.receiptJwt).catch((error: unknown) => {
          if (error instanceof TokenError) throw unauthorized("The receipt does not verify.");
          throw error;
        });
        if (claims.event !== "purchase.completed")
          throw unauthorized("The receipt is not one of a completed purchase.");
        if (claims.purchaseId !== params.purchaseId) {
          throw invalidInput(
            "receiptJwt: the receipt is for another purchase than the one in the path.",
            "receiptJwt",
          );
        }
        const status = await deps.fulfillPurchase(claims.aud, {
          purchaseId: claims.purchaseId,
          userId: claims.sub,
          env: claims.env,
          by: "RECEIPT",
        });
        return { status };
      },
    }),
    route({
      method: "POST",
      path: base,
      tag,
      summary: "Record a purchase",
      description:
        "Call it when the player has paid. The receipt is signed and its webhook queued in the same transaction.",
      who: ["operator"],
      params: pathParams("gameId"),
      body: createPurchaseBody,
      answer: { status: 201, schema: z.object({ purchase, receiptJwt: z.string() }) },
      handle: ({ params, body, idempotency }) =>
        recordPurchase({ gameId: params.gameId, ...body }, idempotency),
    }),
    route({
      method: "GET",
      path: base,
      tag,
      summary: "List purchases, newest first",
      description:
        "With filters a page may be shorter than asked for: go on as long as there is a `nextCursor`.",
      who: ["operator", "purchases:read"],
      params: pathParams("gameId"),
      query: pageQuery.extend({
        userId: userId.optional(),
        contentIdentifier: contentIdentifier.optional(),
        env: env.optional(),
        state: purchaseState.optional(),
      }),
      answer: {
        status: 200,
        schema: z.object({ purchases: z.array(purchase), nextCursor: z.string().nullable() }),
      },
      handle: async ({ params, query }) => {
        const scanned = await listPurchases(sql, params.gameId, query);
        const { page, nextCursor } = cutScannedPage(scanned, query.limit, (row) => row.purchaseId);
        return { purchases: page.map(showPurchase), nextCursor };
      },
    }),
    route({
      method: "GET",
      path: `${base}/{purchaseId}`,
      tag,
      summary: "Read one purchase and its timeline",
      who: ["operator", "purchases:read"],
      params: pathParams("gameId", "purchaseId"),
      answer: {
        status: 200,
        schema: z.object({ purchase: purchase.extend({ timeline: z.array(timelineEntry) }) }),
      },
      handle: async ({ params }) => {
        const [row] = await sql<PurchaseRow[]>`
          SELECT ${purchaseColumns(sql)} FROM purchases
          WHERE game_id = ${params.gameId} AND purchase_id = ${params.purchaseId}`;
        if (row === undefined) throw notFound("The game has no such purchase.");
        return {
          purchase: {
            ...showPurchase(row),
            timeline: await readTimeline(sql, params.gameId, params.purchaseId),
          },
        };
      },
    }),
    route({
      method: "POST",
      path: `${base}/{purchaseId}/refund`,
      tag,
      summary: "Refund a purchase",
      description: "Final, and safe to repeat: only the first call changes anything and sends a receipt.",
      who: ["operator"],
      params: pathParams("gameId", "purchaseId"),
      body: refundPurchaseBody,
      answer: { status: 200, schema: z.object({ purchase }) },
      handle: async ({ params, body }) => ({
        purchase: await refundPurchase(deps, params.gameId, params.purchaseId, body?.reason ?? null),
      }),
    }),
  ];
}
