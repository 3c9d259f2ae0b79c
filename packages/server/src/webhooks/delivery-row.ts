// A delivery and its attempts as they are stored, and how they are shown.
import type {
  Attempt,
  AttemptOutcome,
  AttemptTrigger,
  Delivery,
  DeliveryState,
  Env,
  PurchaseEvent,
} from "@coinslot/contract";
import type { Sql } from "../database/connect.ts";

export interface DeliveryRow {
  readonly id: string;
  readonly eventId: string;
  readonly purchaseId: string;
  readonly event: PurchaseEvent;
  readonly env: Env;
  readonly state: DeliveryState;
  readonly attemptCount: number;
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
  readonly deliveredAt: Date | null;
}

/** Of `deliveries d JOIN events e`. */
export function deliveryColumns(sql: Sql) {
  return sql`d.id, e.id AS event_id, e.purchase_id, e.event, d.env, d.state, d.attempt_count, d.next_attempt_at,
    d.created_at, d.delivered_at`;
}

export function showDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    eventId: row.eventId,
    purchaseId: row.purchaseId,
    event: row.event,
    env: row.env,
    state: row.state,
    attemptCount: row.attemptCount,
    nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    deliveredAt: row.deliveredAt?.toISOString() ?? null,
  };
}

export interface AttemptRow {
  readonly number: number;
  readonly trigger: AttemptTrigger;
  readonly startedAt: Date;
  readonly url: string;
  readonly outcome: AttemptOutcome | null;
  readonly error: string | null;
  readonly requestHeaders: Record<string, string> | null;
  readonly responseStatus: number | null;
  readonly responseHeaders: Record<string, string> | null;
  readonly responseBody: string | null;
  readonly isTruncated: boolean | null;
  readonly timings: Attempt["timings"];
}

/** The body is the same for every attempt, so it is not stored with each. */
export function showAttempt(row: AttemptRow, requestBody: string): Attempt {
  return {
    number: row.number,
    trigger: row.trigger,
    startedAt: row.startedAt.toISOString(),
    url: row.url,
    request: { headers: row.requestHeaders ?? {}, body: requestBody },
    response:
      row.responseStatus === null
        ? null
        : {
            status: row.responseStatus,
            headers: row.responseHeaders ?? {},
            body: row.responseBody ?? "",
            truncated: row.isTruncated ?? false,
          },
    outcome: row.outcome,
    error: row.error,
    timings: row.timings,
  };
}
