// An event as it is stored, and how it is shown.
import type { Env, Event, PurchaseEvent } from "@coinslot/contract";
import type { Sql } from "../database/connect.ts";
import { invalidInput } from "../http/api-error.ts";

export interface EventRow {
  /** A bigint: kept as text, only ever handed back to the database. */
  readonly position: string;
  readonly id: string;
  readonly event: PurchaseEvent;
  readonly env: Env;
  readonly purchaseId: string;
  readonly receiptJwt: string;
  readonly createdAt: Date;
}

export function showEvent(row: EventRow): Event {
  return {
    id: row.id,
    event: row.event,
    env: row.env,
    purchaseId: row.purchaseId,
    receiptJwt: row.receiptJwt,
    createdAt: row.createdAt.toISOString(),
  };
}

/** Where in the game's feed an event stands; "0" is before the first. */
export async function positionOf(sql: Sql, gameId: string, eventId: string | undefined): Promise<string> {
  if (eventId === undefined) return "0";
  const [row] = await sql<{ position: string }[]>`
    SELECT position FROM events WHERE game_id = ${gameId} AND id = ${eventId}`;
  if (row === undefined) throw invalidInput("after: the game has no event with this id.", "after");
  return row.position;
}

/**
 * The events behind a position, in the order of their commits. Positions are handed out under a lock that is held
 * until commit, so nothing can appear later in front of what has been read.
 */
export function readEvents(
  sql: Sql,
  gameId: string,
  from: { position: string; env: Env | undefined; limit: number },
): Promise<EventRow[]> {
  return sql<EventRow[]>`
    SELECT position, id, event, env, purchase_id, receipt_jwt, created_at FROM events
    WHERE game_id = ${gameId} AND position > ${from.position}
      ${from.env === undefined ? sql`` : sql`AND env = ${from.env}`}
    ORDER BY position LIMIT ${from.limit}`;
}
