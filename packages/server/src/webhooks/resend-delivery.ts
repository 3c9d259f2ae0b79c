// Sends a delivery again, whatever became of it: a new series of nine attempts, the first at once.
import type { Env } from "@coinslot/contract";
import type { Clock } from "../clock.ts";
import type { Sql } from "../database/connect.ts";
import { conflict, notFound } from "../http/api-error.ts";

export interface ResendDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly onDue: (gameId: string, env: Env) => void;
}

/** An attempt that is under way ends and is logged as ever, but no longer decides what becomes of the delivery. */
export async function resendDelivery(deps: ResendDeps, gameId: string, deliveryId: string): Promise<void> {
  const { sql } = deps;
  const now = new Date(deps.clock.nowMs());
  const [row] = await sql<{ env: Env }[]>`
    UPDATE deliveries d SET state = 'PENDING', slot = 0, trigger = 'RESEND', series_started_at = NULL,
      next_attempt_at = ${now}, lease_token = NULL
    FROM webhook_endpoints w
    WHERE d.game_id = ${gameId} AND d.id = ${deliveryId}
      AND w.game_id = ${gameId} AND w.env = d.env AND w.url <> ''
    RETURNING d.env`;
  if (row !== undefined) {
    deps.onDue(gameId, row.env);
    return;
  }
  const [found] = await sql<
    { env: Env }[]
  >`SELECT env FROM deliveries WHERE game_id = ${gameId} AND id = ${deliveryId}`;
  if (found === undefined) throw notFound("The game has no such delivery.");
  throw conflict(`The game has no webhook URL for ${found.env}. Set one first.`);
}
