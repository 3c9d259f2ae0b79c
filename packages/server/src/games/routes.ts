// Games over HTTP.
import { createGameBody, game } from "@coinslot/contract";
import { z } from "zod";
import type { Sql } from "../database/connect.ts";
import { notFound } from "../http/api-error.ts";
import { cutPage, decodeCursor, pageQuery } from "../http/pages.ts";
import { pathParams } from "../http/path-params.ts";
import { type Route, route } from "../http/route.ts";
import { createGame, type GameDeps } from "./create-game.ts";

export function gameRoutes(deps: GameDeps & { sql: Sql }): Route[] {
  const { sql } = deps;
  return [
    route({
      method: "POST",
      path: "/api/games",
      tag: "Games",
      summary: "Create a game",
      who: ["operator"],
      body: createGameBody,
      answer: { status: 201, schema: z.object({ game }) },
      handle: async ({ body, idempotency }) => ({ game: await createGame(deps, body, idempotency) }),
    }),
    route({
      method: "GET",
      path: "/api/games",
      tag: "Games",
      summary: "List the games",
      who: ["operator"],
      query: pageQuery,
      answer: { status: 200, schema: z.object({ games: z.array(game), nextCursor: z.string().nullable() }) },
      handle: async ({ query }) => {
        const after = decodeCursor(query.cursor, /^[A-Za-z0-9._-]{1,64}$/) ?? "";
        const rows = await sql<{ id: string; title: string }[]>`
          SELECT id, title FROM games WHERE id > ${after} ORDER BY id LIMIT ${query.limit + 1}`;
        const { page, nextCursor } = cutPage(rows, query.limit, (row) => row.id);
        return { games: page, nextCursor };
      },
    }),
    route({
      method: "GET",
      path: "/api/games/{gameId}",
      tag: "Games",
      summary: "Read one game",
      who: ["operator"],
      params: pathParams("gameId"),
      answer: { status: 200, schema: z.object({ game }) },
      handle: async ({ params }) => {
        const [row] = await sql<
          { id: string; title: string }[]
        >`SELECT id, title FROM games WHERE id = ${params.gameId}`;
        if (row === undefined) throw notFound("There is no such game.");
        return { game: row };
      },
    }),
  ];
}
