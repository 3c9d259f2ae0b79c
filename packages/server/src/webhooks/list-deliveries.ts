// Lists deliveries, newest first, looking through a bounded number of rows.
import type { DeliveryState, Env } from "@coinslot/contract";
import type { Sql } from "../database/connect.ts";
import { decodeCursor } from "../http/pages.ts";
import { type Scanned, scanWindowCount, toScanned } from "../http/scan-window.ts";
import { type DeliveryRow, deliveryColumns } from "./delivery-row.ts";

export interface DeliveryFilter {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly state?: DeliveryState | undefined;
  readonly env?: Env | undefined;
  readonly purchaseId?: string | undefined;
}

export async function listDeliveries(
  sql: Sql,
  gameId: string,
  filter: DeliveryFilter,
): Promise<Scanned<DeliveryRow>> {
  const before = decodeCursor(filter.cursor, /^dlv_[0-9a-z]{26}$/);
  // A purchase has two events at most, found by their index; the other filters are applied to the window.
  const rows = await sql<(DeliveryRow & { lastScanned: string; scannedCount: number })[]>`
    WITH looked_at AS (
      SELECT * FROM deliveries
      WHERE game_id = ${gameId}
        ${before === null ? sql`` : sql`AND id < ${before}`}
        ${
          filter.purchaseId === undefined
            ? sql``
            : sql`AND event_position IN (
                SELECT position FROM events WHERE game_id = ${gameId} AND purchase_id = ${filter.purchaseId})`
        }
      ORDER BY id DESC LIMIT ${scanWindowCount}
    ),
    found AS (
      SELECT ${deliveryColumns(sql)} FROM looked_at d
      JOIN events e ON e.game_id = ${gameId} AND e.position = d.event_position
      WHERE true
        ${filter.state === undefined ? sql`` : sql`AND d.state = ${filter.state}`}
        ${filter.env === undefined ? sql`` : sql`AND d.env = ${filter.env}`}
      ORDER BY d.id DESC LIMIT ${filter.limit + 1}
    )
    SELECT found.*, ends.last_scanned, ends.scanned_count
    FROM (SELECT min(id) AS last_scanned, count(*)::int AS scanned_count FROM looked_at) ends
    LEFT JOIN found ON true
    ORDER BY found.id DESC`;
  return toScanned(rows, (row) => row.id !== null);
}
