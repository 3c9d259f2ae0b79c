// Access tokens over HTTP.
import { accessToken, createTokenBody } from "@coinslot/contract";
import { z } from "zod";
import { notFound } from "../http/api-error.ts";
import { cutPage, decodeCursor, pageQuery } from "../http/pages.ts";
import { pathParams } from "../http/path-params.ts";
import { type Route, route } from "../http/route.ts";
import { createToken, type TokenDeps } from "./create-token.ts";
import { showToken, type TokenRow, tokenColumns } from "./token-row.ts";

const base = "/api/games/{gameId}/tokens";
const tag = "Access tokens";

export function tokenRoutes(deps: TokenDeps): Route[] {
  const { sql } = deps;
  return [
    route({
      method: "POST",
      path: base,
      tag,
      summary: "Create an access token",
      description: "`accessToken` is shown in this answer and never again.",
      who: ["operator"],
      params: pathParams("gameId"),
      body: createTokenBody,
      answer: { status: 201, schema: z.object({ token: accessToken, accessToken: z.string() }) },
      handle: ({ params, body, idempotency }) => createToken(deps, params.gameId, body, idempotency),
    }),
    route({
      method: "GET",
      path: base,
      tag,
      summary: "List the access tokens of a game",
      who: ["operator"],
      params: pathParams("gameId"),
      query: pageQuery,
      answer: {
        status: 200,
        schema: z.object({ tokens: z.array(accessToken), nextCursor: z.string().nullable() }),
      },
      handle: async ({ params, query }) => {
        const after = decodeCursor(query.cursor, /^tok_[0-9a-z]{26}$/) ?? "";
        const rows = await sql<TokenRow[]>`
          SELECT ${tokenColumns(sql)} FROM access_tokens
          WHERE game_id = ${params.gameId} AND id > ${after} ORDER BY id LIMIT ${query.limit + 1}`;
        const { page, nextCursor } = cutPage(rows, query.limit, (row) => row.id);
        return { tokens: page.map(showToken), nextCursor };
      },
    }),
    route({
      method: "DELETE",
      path: `${base}/{tokenId}`,
      tag,
      summary: "Revoke an access token",
      description: "Takes effect with the next request.",
      who: ["operator"],
      params: pathParams("gameId", "tokenId"),
      answer: { status: 204, schema: z.void() },
      handle: async ({ params }) => {
        const deleted = await sql`
          DELETE FROM access_tokens WHERE game_id = ${params.gameId} AND id = ${params.tokenId} RETURNING id`;
        if (deleted.length === 0) throw notFound("The game has no such access token.");
      },
    }),
  ];
}
