// Lists purchases, newest first, looking through a bounded number of rows.
import type { Env, PurchaseState } from "@coinslot/contract";
import type { Sql } from "../database/connect.ts";
import { decodeCursor } from "../http/pages.ts";
import { type Scanned, scanWindowCount, toScanned } from "../http/scan-window.ts";
import { type PurchaseRow, purchaseColumns } from "./purchase-row.ts";

export interface PurchaseFilter {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly userId?: string | undefined;
  readonly contentIdentifier?: string | undefined;
  readonly env?: Env | undefined;
  readonly state?: PurchaseState | undefined;
}

export async function listPurchases(
  sql: Sql,
  gameId: string,
  filter: PurchaseFilter,
): Promise<Scanned<PurchaseRow>> {
  const before = decodeCursor(filter.cursor, /^pur_[0-9a-z]{26}$/);
  // An index serves the user; the other filters are applied to the window.
  const rows = await sql<(PurchaseRow & { lastScanned: string; scannedCount: number })[]>`
    WITH looked_at AS (
      SELECT * FROM purchases
      WHERE game_id = ${gameId}
        ${before === null ? sql`` : sql`AND purchase_id < ${before}`}
        ${filter.userId === undefined ? sql`` : sql`AND user_id = ${filter.userId}`}
      ORDER BY purchase_id DESC LIMIT ${scanWindowCount}
    ),
    found AS (
      SELECT ${purchaseColumns(sql)} FROM looked_at
      WHERE true
        ${filter.contentIdentifier === undefined ? sql`` : sql`AND content_identifier = ${filter.contentIdentifier}`}
        ${filter.env === undefined ? sql`` : sql`AND env = ${filter.env}`}
        ${filter.state === undefined ? sql`` : sql`AND state = ${filter.state}`}
      ORDER BY purchase_id DESC LIMIT ${filter.limit + 1}
    )
    SELECT found.*, ends.last_scanned, ends.scanned_count
    FROM (SELECT min(purchase_id) AS last_scanned, count(*)::int AS scanned_count FROM looked_at) ends
    LEFT JOIN found ON true
    ORDER BY found.purchase_id DESC`;
  return toScanned(rows, (row) => row.purchaseId !== null);
}
