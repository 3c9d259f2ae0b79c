// A purchase as it is stored, and how it is shown.
import type { ContentType, Env, Purchase, PurchaseSource, PurchaseState } from "@coinslot/contract";
import type { Queryable } from "../database/connect.ts";

export interface PurchaseRow {
  readonly purchaseId: string;
  readonly userId: string;
  readonly contentIdentifier: string;
  readonly type: ContentType;
  readonly env: Env;
  readonly source: PurchaseSource;
  readonly state: PurchaseState;
  readonly purchasedAt: Date;
  readonly fulfilledAt: Date | null;
  readonly refundedAt: Date | null;
}

export function purchaseColumns(sql: Queryable) {
  return sql`purchase_id, user_id, content_identifier, type, env, source, state,
    purchased_at, fulfilled_at, refunded_at`;
}

export function showPurchase(row: PurchaseRow): Purchase {
  return {
    purchaseId: row.purchaseId,
    userId: row.userId,
    contentIdentifier: row.contentIdentifier,
    type: row.type,
    env: row.env,
    source: row.source,
    state: row.state,
    purchasedAt: row.purchasedAt.toISOString(),
    fulfilledAt: row.fulfilledAt?.toISOString() ?? null,
    refundedAt: row.refundedAt?.toISOString() ?? null,
  };
}
