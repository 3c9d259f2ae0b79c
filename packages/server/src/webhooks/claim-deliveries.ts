// Takes due deliveries of one endpoint for a while, and logs the attempts that are about to be made.
import type { Env } from "@coinslot/contract";
import type { Sql } from "../database/connect.ts";

/** A delivery that this process holds until the lease ends. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly number: number;
  readonly slot: number;
  readonly seriesStartedAt: Date;
  readonly url: string;
  readonly receiptJwt: string;
}

export interface Claim {
  readonly gameId: string;
  readonly env: Env;
  readonly now: Date;
  readonly leaseUntil: Date;
  /** The fencing token: results are written only while the delivery still carries it. */
  readonly token: string;
  readonly maxCount: number;
}

/**
 * One statement: rows that another process is claiming are skipped, first attempts come before retries, and the
 * attempt is in the log before it is sent. A lease that ran out leaves an attempt without an outcome behind; whoever
 * takes over writes down that it is unknown.
 */
export async function claimDeliveries(sql: Sql, claim: Claim): Promise<ClaimedDelivery[]> {
  const { gameId, env, now, leaseUntil, token, maxCount } = claim;
  return sql<ClaimedDelivery[]>`
    WITH endpoint AS (
      SELECT url FROM webhook_endpoints WHERE game_id = ${gameId} AND env = ${env} AND url <> ''
    ),
    fresh AS (
      SELECT id FROM deliveries
      WHERE game_id = ${gameId} AND env = ${env} AND state = 'PENDING' AND (slot > 0) = false
        AND next_attempt_at <= ${now} AND EXISTS (SELECT FROM endpoint)
      ORDER BY next_attempt_at LIMIT ${maxCount} FOR UPDATE SKIP LOCKED
    ),
    again AS (
      SELECT id FROM deliveries
      WHERE game_id = ${gameId} AND env = ${env} AND state = 'PENDING' AND (slot > 0) = true
        AND next_attempt_at <= ${now} AND EXISTS (SELECT FROM endpoint)
      ORDER BY next_attempt_at LIMIT ${maxCount} - (SELECT count(*) FROM fresh) FOR UPDATE SKIP LOCKED
    ),
    due AS (
      SELECT d.id, d.lease_token, d.attempt_count AS before, d.attempt_started_at AS before_at
      FROM deliveries d WHERE d.game_id = ${gameId} AND d.id IN (SELECT id FROM fresh UNION ALL SELECT id FROM again)
    ),
    lost AS (
      UPDATE delivery_attempts a SET outcome = 'UNKNOWN'
      FROM due WHERE due.lease_token IS NOT NULL AND a.game_id = ${gameId} AND a.delivery_id = due.id
        AND a.number = due.before AND a.started_at = due.before_at AND a.outcome IS NULL
    ),
    claimed AS (
      UPDATE deliveries d SET
        lease_token = ${token}, next_attempt_at = ${leaseUntil}, attempt_started_at = ${now},
        attempt_count = attempt_count + 1, series_started_at = coalesce(series_started_at, ${now})
      FROM due WHERE d.game_id = ${gameId} AND d.id = due.id
      RETURNING d.id, d.attempt_count AS number, d.slot, d.series_started_at, d.trigger, d.event_position
    ),
    logged AS (
      INSERT INTO delivery_attempts (game_id, delivery_id, number, started_at, trigger, url)
      SELECT ${gameId}, claimed.id, claimed.number, ${now}, claimed.trigger, endpoint.url FROM claimed, endpoint
    )
    SELECT claimed.id, claimed.number, claimed.slot, claimed.series_started_at, endpoint.url, e.receipt_jwt
    FROM endpoint, claimed JOIN events e ON e.game_id = ${gameId} AND e.position = claimed.event_position`;
}

/** Ends what waits for an endpoint that has been turned off since: it can be resent. */
export async function cancelWithoutUrl(sql: Sql, gameId: string, env: Env): Promise<void> {
  await sql`
    UPDATE deliveries SET state = 'CANCELED', next_attempt_at = NULL, lease_token = NULL
    WHERE game_id = ${gameId} AND env = ${env} AND state = 'PENDING'
      AND NOT EXISTS (SELECT FROM webhook_endpoints WHERE game_id = ${gameId} AND env = ${env} AND url <> '')`;
}

export interface DueEndpoint {
  readonly gameId: string;
  readonly env: Env;
  readonly dueAt: Date;
}

/**
 * Every endpoint with deliveries that are due by now, by walking the index from endpoint to endpoint: the cost
 * grows with the number of endpoints that wait, not with the number of deliveries.
 */
export async function findDueEndpoints(sql: Sql, now: Date): Promise<DueEndpoint[]> {
  return sql<DueEndpoint[]>`
    WITH RECURSIVE waiting (game_id, env) AS (
      (SELECT game_id, env FROM deliveries WHERE state = 'PENDING' ORDER BY game_id, env LIMIT 1)
      UNION ALL
      SELECT next.game_id, next.env FROM waiting, LATERAL (
        SELECT game_id, env FROM deliveries
        WHERE state = 'PENDING' AND (game_id, env) > (waiting.game_id, waiting.env)
        ORDER BY game_id, env LIMIT 1
      ) next
    )
    SELECT w.game_id, w.env, due.due_at FROM waiting w, LATERAL (
      SELECT least(
        (SELECT min(next_attempt_at) FROM deliveries d WHERE d.game_id = w.game_id AND d.env = w.env
          AND d.state = 'PENDING' AND (d.slot > 0) = false),
        (SELECT min(next_attempt_at) FROM deliveries d WHERE d.game_id = w.game_id AND d.env = w.env
          AND d.state = 'PENDING' AND (d.slot > 0) = true)
      ) AS due_at
    ) due
    WHERE due.due_at <= ${now}
    ORDER BY due.due_at`;
}
