// Writes down how attempts ended: many in one statement, and only what this process still holds.
import type { DeliveryState } from "@coinslot/contract";
import type { Sql } from "../database/connect.ts";
import type { Attempt } from "./sending/attempt.ts";

export interface AttemptResult {
  readonly deliveryId: string;
  readonly number: number;
  readonly startedAt: Date;
  readonly token: string;
  readonly attempt: Attempt;
  /** Where the delivery goes from here. */
  readonly next: {
    readonly state: Extract<DeliveryState, "DELIVERED" | "FAILED" | "PENDING">;
    readonly slot: number;
    readonly at: Date | null;
  };
}

/**
 * The attempt gets its outcome unless somebody who took over has called it unknown; the delivery moves on only while it
 * carries our token. A process that slept past its lease changes nothing.
 */
export async function recordResults(
  sql: Sql,
  gameId: string,
  results: readonly AttemptResult[],
  now: Date,
): Promise<void> {
  const column = <T>(read: (result: AttemptResult) => T): T[] => results.map(read);
  await sql`
    WITH ended AS (
      SELECT * FROM unnest(
        ${column((r) => r.deliveryId)}::text[], ${column((r) => r.number)}::int[],
        ${column((r) => r.startedAt.toISOString())}::timestamptz[], ${column((r) => r.token)}::text[],
        ${column((r) => (r.attempt.delivered ? "DELIVERED" : "FAILED"))}::text[],
        ${column((r) => r.attempt.failure?.sentence ?? null)}::text[],
        ${column((r) => JSON.stringify(r.attempt.requestHeaders))}::text[],
        ${column((r) => r.attempt.response?.status ?? null)}::int[],
        ${column((r) => (r.attempt.response === null ? null : storable(JSON.stringify(r.attempt.response.headers))))}::text[],
        ${column((r) => (r.attempt.response === null ? null : storable(r.attempt.response.body)))}::text[],
        ${column((r) => (r.attempt.response === null ? null : String(r.attempt.response.truncated)))}::text[],
        ${column((r) => JSON.stringify(r.attempt.timings))}::text[],
        ${column((r) => r.next.state)}::text[], ${column((r) => r.next.slot)}::int[],
        ${column((r) => r.next.at?.toISOString() ?? null)}::timestamptz[]
      ) AS e (delivery_id, number, started_at, token, outcome, error, request_headers, response_status,
        response_headers, response_body, is_truncated, timings, state, slot, next_at)
      ORDER BY delivery_id
    ),
    logged AS (
      UPDATE delivery_attempts a SET
        outcome = ended.outcome, error = ended.error, request_headers = ended.request_headers::jsonb,
        response_status = ended.response_status, response_headers = ended.response_headers::jsonb,
        response_body = ended.response_body, is_truncated = ended.is_truncated::boolean, timings = ended.timings::jsonb
      FROM ended
      WHERE a.game_id = ${gameId} AND a.delivery_id = ended.delivery_id AND a.number = ended.number
        AND a.started_at = ended.started_at AND a.outcome IS NULL
    )
    UPDATE deliveries d SET
      state = ended.state, slot = ended.slot, next_attempt_at = ended.next_at, lease_token = NULL, trigger = 'RETRY',
      delivered_at = CASE WHEN ended.state = 'DELIVERED' THEN ${now} ELSE d.delivered_at END
    FROM ended
    WHERE d.game_id = ${gameId} AND d.id = ended.delivery_id AND d.lease_token = ended.token AND d.state = 'PENDING'`;
}

/** A receiver may send what PostgreSQL cannot hold: NUL characters become the replacement character. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll("\u0000", "\ufffd").replaceAll("\\u0000", "\\ufffd");
}
