// What happened to one purchase, from the sale to the refund, in order.
import { limits, type TimelineEntry } from "@coinslot/contract";
import type { Sql } from "../database/connect.ts";

interface TimelineRow {
  readonly at: Date;
  readonly kind: TimelineEntry["kind"];
  readonly detail: TimelineEntry["detail"];
}

export async function readTimeline(sql: Sql, gameId: string, purchaseId: string): Promise<TimelineEntry[]> {
  const rows = await sql<TimelineRow[]>`
    WITH p AS (SELECT * FROM purchases WHERE game_id = ${gameId} AND purchase_id = ${purchaseId}),
    entries (at, step, kind, detail) AS (
      SELECT purchased_at, 1, 'PURCHASED',
        jsonb_build_object('source', source, 'amount', price_amount, 'currency', price_currency) FROM p
      UNION ALL
      SELECT d.created_at, 2, 'DELIVERY_CREATED',
        jsonb_build_object('deliveryId', d.id, 'eventId', e.id, 'event', e.event, 'state', d.state)
      FROM events e JOIN deliveries d ON d.game_id = ${gameId} AND d.event_position = e.position
      WHERE e.game_id = ${gameId} AND e.purchase_id = ${purchaseId}
      UNION ALL
      SELECT fulfilled_at, 3, 'FULFILLED', jsonb_build_object('by', fulfilled_by) FROM p WHERE fulfilled_at IS NOT NULL
      UNION ALL
      SELECT refunded_at, 1, 'REFUNDED', jsonb_build_object('reason', refund_reason) FROM p WHERE refunded_at IS NOT NULL
    )
    SELECT at, kind, detail FROM entries ORDER BY at, step LIMIT ${limits.timelineMaxCount}`;
  return rows.map((row) => ({ at: row.at.toISOString(), kind: row.kind, detail: row.detail }));
}
