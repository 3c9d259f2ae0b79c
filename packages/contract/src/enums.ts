// The closed lists of words and numbers on the wire.
import { z } from "zod";

export const env = z.enum(["PRODUCTION", "PLAYTEST"]);
export type Env = z.infer<typeof env>;

export const contentType = z.enum(["CONSUMABLE", "DURABLE"]);
export type ContentType = z.infer<typeof contentType>;

export const purchaseEvent = z.enum(["purchase.completed", "purchase.refunded"]);
export type PurchaseEvent = z.infer<typeof purchaseEvent>;

export const purchaseSource = z.enum(["PAYWALL", "STORE_PAGE", "GIFT_CODE"]);
export type PurchaseSource = z.infer<typeof purchaseSource>;

export const purchaseState = z.enum(["COMPLETED", "FULFILLED", "REFUNDED"]);
export type PurchaseState = z.infer<typeof purchaseState>;

export const fulfillStatus = z.enum(["FULFILLED", "ALREADY_FULFILLED"]);
export type FulfillStatus = z.infer<typeof fulfillStatus>;

export const deliveryState = z.enum(["PENDING", "DELIVERED", "FAILED", "CANCELED", "NOT_SENT"]);
export type DeliveryState = z.infer<typeof deliveryState>;

export const sortOrder = z
  .union([z.literal(0), z.literal(1)], {
    error: "must be 0 (ascending, lowest score is best) or 1 (descending)",
  })
  .describe("0 = ascending, the lowest score is best; 1 = descending.");

export const displayType = z
  .union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)], {
    error: "must be 0 (numeric), 1 (seconds), 2 (milliseconds) or 3 (game ticks)",
  })
  .describe("0 = numeric, 1 = seconds, 2 = milliseconds, 3 = game ticks.");

export const accessTokenScopes = [
  "leaderboards:read",
  "leaderboards:write",
  "scores:write",
  "catalog:write",
  "purchases:read",
  "webhooks:read",
  "webhooks:write",
] as const;
export const scope = z.enum(accessTokenScopes);
export type Scope = z.infer<typeof scope>;
