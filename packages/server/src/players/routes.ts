// What a player's own token may do, and how the operator makes one.
import {
  createPlayerTokenBody,
  type Entitlement,
  entitlement,
  fulfillStatus,
  purchase,
  userId,
} from "@coinslot/contract";
import { z } from "zod";
import type { Sql } from "../database/connect.ts";
import { forbidden } from "../http/api-error.ts";
import type { Caller } from "../http/callers.ts";
import { createOnce, type IdempotencyDeps } from "../http/idempotency.ts";
import { cutPage, decodeCursor, pageQuery } from "../http/pages.ts";
import { pathParams } from "../http/path-params.ts";
import { type Route, route } from "../http/route.ts";
import type { Ids } from "../ids.ts";
import type { Keyring } from "../keys/keyring.ts";
import type { FulfillPurchase } from "../purchases/fulfill-purchase.ts";
import { type PurchaseRow, purchaseColumns, showPurchase } from "../purchases/purchase-row.ts";
import { type Player, signUserToken, verifyUserToken } from "./user-token.ts";

export interface PlayerDeps extends IdempotencyDeps {
  readonly sql: Sql;
  readonly ids: Ids;
  readonly keyring: Keyring;
  readonly authUrl: string;
  readonly fulfillPurchase: FulfillPurchase;
}

const me = "/api/games/{gameId}/me";
const tag = "Players";

function playerOf(caller: Caller): Player {
  if (caller.kind !== "player") throw forbidden("Only a player's own token may call this.");
  return caller;
}

export function playerRoutes(deps: PlayerDeps): Route[] {
  const { sql } = deps;

  /** Durables that the player owns: a purchase that was not refunded. Bought twice, it is owned until both are refunded. */
  const owned = (player: Player, contentIdentifier?: string) => sql<
    (Omit<Entitlement, "purchasedAt"> & { purchasedAt: Date })[]
  >`
    SELECT c.content_identifier, c.title, c.files, min(p.purchased_at) AS purchased_at
    FROM purchases p JOIN contents c ON c.game_id = ${player.gameId} AND c.content_identifier = p.content_identifier
    WHERE p.game_id = ${player.gameId} AND p.user_id = ${player.userId} AND p.env = ${player.env}
      AND p.type = 'DURABLE' AND p.state <> 'REFUNDED'
      ${contentIdentifier === undefined ? sql`` : sql`AND p.content_identifier = ${contentIdentifier}`}
    GROUP BY c.content_identifier, c.title, c.files ORDER BY c.content_identifier`;

  return [
    route({
      method: "POST",
      path: "/api/games/{gameId}/players/{userId}/tokens",
      tag,
      summary: "Make a user token for a player",
      description:
        "A JWT that is good for an hour and lets its holder act as this player, in one environment.",
      who: ["operator"],
      params: pathParams("gameId").extend({ userId }),
      body: createPlayerTokenBody,
      answer: { status: 201, schema: z.object({ userJwt: z.string() }) },
      handle: async ({ params, body, idempotency }) => {
        const make = async () => ({
          userJwt: await signUserToken(deps, { ...params, env: body?.env ?? "PRODUCTION" }),
        });
        if (idempotency === null) return make();
        const answer = await createOnce(deps, idempotency, make);
        // A key is kept for a day, a token is good for an hour: an expired one helps nobody.
        return (await verifyUserToken(deps, answer.userJwt)) === null ? make() : answer;
      },
    }),
    route({
      method: "GET",
      path: `${me}/entitlements`,
      tag,
      summary: "List the durables that the player owns",
      who: ["player"],
      params: pathParams("gameId"),
      answer: { status: 200, schema: z.object({ entitlements: z.array(entitlement), nextCursor: z.null() }) },
      handle: async ({ caller }) => {
        const rows = await owned(playerOf(caller));
        const entitlements = rows.map((row) => ({ ...row, purchasedAt: row.purchasedAt.toISOString() }));
        return { entitlements, nextCursor: null };
      },
    }),
    route({
      method: "GET",
      path: `${me}/entitlements/{contentIdentifier}`,
      tag,
      summary: "Whether the player owns a durable",
      who: ["player"],
      params: pathParams("gameId", "contentIdentifier"),
      answer: { status: 200, schema: z.object({ entitled: z.boolean() }) },
      handle: async ({ params, caller }) => {
        const rows = await owned(playerOf(caller), params.contentIdentifier);
        return { entitled: rows.length > 0 };
      },
    }),
    route({
      method: "GET",
      path: `${me}/purchases`,
      tag,
      summary: "List the player's purchases with their receipts",
      description:
        "With `fulfilled=false`: the consumables that a game delivers at launch, oldest first, until fulfilled.",
      who: ["player"],
      params: pathParams("gameId"),
      query: pageQuery.extend({
        fulfilled: z
          .enum(["true", "false"])
          .optional()
          .describe("Only consumables that are, or are not, fulfilled."),
      }),
      answer: {
        status: 200,
        schema: z.object({
          purchases: z.array(purchase.extend({ receiptJwt: z.string() })),
          nextCursor: z.string().nullable(),
        }),
      },
      handle: async ({ caller, query }) => {
        const player = playerOf(caller);
        const after = decodeCursor(query.cursor, /^pur_[0-9a-z]{26}$/) ?? "";
        const wanted =
          query.fulfilled === undefined
            ? sql`AND p.state <> 'REFUNDED'`
            : sql`AND p.type = 'CONSUMABLE' AND p.state = ${query.fulfilled === "true" ? "FULFILLED" : "COMPLETED"}`;
        const rows = await sql<(PurchaseRow & { receiptJwt: string })[]>`
          SELECT found.*, e.receipt_jwt FROM (
            SELECT ${purchaseColumns(sql)} FROM purchases p
            WHERE game_id = ${player.gameId} AND user_id = ${player.userId} AND env = ${player.env}
              AND purchase_id > ${after} ${wanted}
            ORDER BY purchase_id LIMIT ${query.limit + 1}
          ) found
          JOIN events e ON e.game_id = ${player.gameId} AND e.purchase_id = found.purchase_id
            AND e.event = 'purchase.completed'
          ORDER BY found.purchase_id`;
        const { page, nextCursor } = cutPage(rows, query.limit, (row) => row.purchaseId);
        return {
          purchases: page.map((row) => ({ ...showPurchase(row), receiptJwt: row.receiptJwt })),
          nextCursor,
        };
      },
    }),
    route({
      method: "POST",
      path: `${me}/purchases/{purchaseId}/fulfill`,
      tag,
      summary: "Fulfil one of the player's own purchases",
      description: "What the game's SDK calls. Safe beside the backend's fulfil: one of them is FULFILLED.",
      who: ["player"],
      // Whatever is in the path, what is not there is answered with a status.
      params: z.object({ gameId: z.string(), purchaseId: z.string() }),
      answer: { status: 200, schema: z.object({ status: fulfillStatus }) },
      handle: async ({ params, caller }) => {
        const { gameId, userId, env } = playerOf(caller);
        return {
          status: await deps.fulfillPurchase(gameId, {
            purchaseId: params.purchaseId,
            userId,
            env,
            by: "PLAYER",
          }),
        };
      },
    }),
  ];
}
