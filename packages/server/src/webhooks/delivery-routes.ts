// Webhook deliveries over HTTP: the log, and sending again.
import { attempt, delivery, deliveryState, env } from "@coinslot/contract";
import { z } from "zod";
import { notFound } from "../http/api-error.ts";
import { pageQuery } from "../http/pages.ts";
import { pathParams } from "../http/path-params.ts";
import { type Route, route } from "../http/route.ts";
import { cutScannedPage } from "../http/scan-window.ts";
import {
  type AttemptRow,
  type DeliveryRow,
  deliveryColumns,
  showAttempt,
  showDelivery,
} from "./delivery-row.ts";
import { listDeliveries } from "./list-deliveries.ts";
import { type ResendDeps, resendDelivery } from "./resend-delivery.ts";

const base = "/api/games/{gameId}/deliveries";
const tag = "Webhooks";
const who = ["operator", "webhooks:read", "webhooks:write"] as const;
/** A delivery can be resent without end; its page shows the latest attempts. */
const attemptsMaxCount = 200;

export function deliveryRoutes(deps: ResendDeps): Route[] {
  const { sql } = deps;
  return [
    route({
      method: "GET",
      path: base,
      tag,
      summary: "List deliveries, newest first",
      description:
        "With filters a page may be shorter than asked for: go on as long as there is a `nextCursor`.",
      who,
      params: pathParams("gameId"),
      query: pageQuery.extend({
        state: deliveryState.optional().describe("Only deliveries in this state."),
        env: env.optional().describe("Only deliveries of this environment."),
        purchaseId: z
          .string()
          .max(64)
          .regex(/^[\w-]+$/)
          .optional()
          .describe("Only deliveries about this purchase."),
      }),
      answer: {
        status: 200,
        schema: z.object({ deliveries: z.array(delivery), nextCursor: z.string().nullable() }),
      },
      handle: async ({ params, query }) => {
        const scanned = await listDeliveries(sql, params.gameId, query);
        const { page, nextCursor } = cutScannedPage(scanned, query.limit, (row) => row.id);
        return { deliveries: page.map(showDelivery), nextCursor };
      },
    }),
    route({
      method: "GET",
      path: `${base}/{deliveryId}`,
      tag,
      summary: "Read one delivery and its attempts",
      who,
      params: pathParams("gameId", "deliveryId"),
      answer: {
        status: 200,
        schema: z.object({ delivery: delivery.extend({ attempts: z.array(attempt) }) }),
      },
      handle: async ({ params: { gameId, deliveryId } }) => {
        const [row] = await sql<(DeliveryRow & { receiptJwt: string })[]>`
          SELECT ${deliveryColumns(sql)}, e.receipt_jwt FROM deliveries d
          JOIN events e ON e.game_id = ${gameId} AND e.position = d.event_position
          WHERE d.game_id = ${gameId} AND d.id = ${deliveryId}`;
        if (row === undefined) throw notFound("The game has no such delivery.");
        const attempts = await sql<AttemptRow[]>`
          SELECT number, trigger, started_at, url, outcome, error, request_headers, response_status,
            response_headers, response_body, is_truncated, timings
          FROM delivery_attempts WHERE game_id = ${gameId} AND delivery_id = ${deliveryId}
          ORDER BY number DESC LIMIT ${attemptsMaxCount}`;
        const body = JSON.stringify({ receiptJwt: row.receiptJwt });
        return {
          delivery: {
            ...showDelivery(row),
            attempts: attempts.reverse().map((one) => showAttempt(one, body)),
          },
        };
      },
    }),
    route({
      method: "POST",
      path: `${base}/{deliveryId}/resend`,
      tag,
      summary: "Send a delivery again",
      description:
        "At once, and retried like any other when it fails. Works in every state, DELIVERED included.",
      who: ["operator", "webhooks:write"],
      params: pathParams("gameId", "deliveryId"),
      answer: { status: 202, schema: z.object({ delivery }) },
      errors: ["conflict"],
      handle: async ({ params: { gameId, deliveryId } }) => {
        await resendDelivery(deps, gameId, deliveryId);
        const [row] = await sql<[DeliveryRow]>`
          SELECT ${deliveryColumns(sql)} FROM deliveries d
          JOIN events e ON e.game_id = ${gameId} AND e.position = d.event_position
          WHERE d.game_id = ${gameId} AND d.id = ${deliveryId}`;
        return { delivery: showDelivery(row) };
      },
    }),
  ];
}
