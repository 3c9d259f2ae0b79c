// Leaderboards over HTTP.
import {
  createLeaderboardBody,
  leaderboard,
  normalizeName,
  renameLeaderboardBody,
  updateLeaderboardBody,
} from "@coinslot/contract";
import { z } from "zod";
import type { IdempotencyDeps } from "../http/idempotency.ts";
import { cutPage, decodeCursor, pageQuery } from "../http/pages.ts";
import { pathParams } from "../http/path-params.ts";
import { type Route, route } from "../http/route.ts";
import type { Ids } from "../ids.ts";
import { createLeaderboard } from "./create-leaderboard.ts";
import { type LeaderboardRef, type LeaderboardRow, leaderboardColumns, matches } from "./leaderboard-row.ts";
import { renameLeaderboard } from "./rename-leaderboard.ts";
import { leaderboardNotFound, updateLeaderboard } from "./update-leaderboard.ts";

const base = "/api/games/{gameId}/leaderboards";
const one = z.object({ leaderboard });
const tag = "Leaderboards";

interface BoardAddress {
  readonly gameId: string;
  readonly ref: LeaderboardRef;
}
const byName = {
  path: `${base}/by-name/{name}`,
  // Any text at all: what the database could not hold is taken out before the lookup.
  params: pathParams("gameId")
    .extend({ name: z.string() })
    .transform(
      ({ gameId, name }): BoardAddress => ({ gameId, ref: { by: "name", value: normalizeName(name) } }),
    ),
};
const byId = {
  path: `${base}/{leaderboardId}`,
  params: pathParams("gameId", "leaderboardId").transform(
    ({ gameId, leaderboardId }): BoardAddress => ({ gameId, ref: { by: "id", value: leaderboardId } }),
  ),
};

export function leaderboardRoutes(deps: IdempotencyDeps & { ids: Ids }): Route[] {
  const { sql } = deps;

  const read = async (gameId: string, ref: LeaderboardRef) => {
    const [row] = await sql<LeaderboardRow[]>`
      SELECT ${leaderboardColumns(sql)} FROM leaderboards WHERE ${matches(sql, gameId, ref)}`;
    if (row === undefined) throw leaderboardNotFound(ref);
    return { leaderboard: row };
  };

  /** The same operation on both of a board's addresses. */
  const onBothAddresses = (make: (address: typeof byName | typeof byId) => Route): Route[] => [
    make(byName),
    make(byId),
  ];

  return [
    route({
      method: "POST",
      path: base,
      tag,
      summary: "Create a leaderboard",
      who: ["operator", "leaderboards:write"],
      params: pathParams("gameId"),
      body: createLeaderboardBody,
      answer: { status: 201, schema: one },
      handle: async ({ params, body, idempotency }) => ({
        leaderboard: await createLeaderboard(deps, params.gameId, body, idempotency),
      }),
    }),
    route({
      method: "GET",
      path: base,
      tag,
      summary: "List the leaderboards of a game",
      who: ["operator", "leaderboards:read", "player"],
      params: pathParams("gameId"),
      query: pageQuery,
      answer: {
        status: 200,
        schema: z.object({ leaderboards: z.array(leaderboard), nextCursor: z.string().nullable() }),
      },
      handle: async ({ params, query }) => {
        const after = decodeCursor(query.cursor, /^[a-z0-9_-]{1,100}$/) ?? "";
        const rows = await sql<LeaderboardRow[]>`
          SELECT ${leaderboardColumns(sql)} FROM leaderboards
          WHERE game_id = ${params.gameId} AND name > ${after}
          ORDER BY name LIMIT ${query.limit + 1}`;
        const { page, nextCursor } = cutPage(rows, query.limit, (row) => row.name);
        return { leaderboards: page, nextCursor };
      },
    }),
    ...onBothAddresses(({ path, params }) =>
      route({
        method: "GET",
        path,
        tag,
        summary: "Read a leaderboard",
        who: ["operator", "leaderboards:read", "player"],
        params,
        answer: { status: 200, schema: one },
        handle: ({ params }) => read(params.gameId, params.ref),
      }),
    ),
    ...onBothAddresses(({ path, params }) =>
      route({
        method: "PATCH",
        path,
        tag,
        summary: "Change the settings of a leaderboard",
        description:
          "Only the fields sent change. A change of `sortOrder` ranks every existing score anew. " +
          "The name cannot be changed here: see rename.",
        who: ["operator", "leaderboards:write"],
        params,
        body: updateLeaderboardBody,
        answer: { status: 200, schema: one },
        handle: async ({ params, body }) => ({
          leaderboard: await updateLeaderboard(sql, params.gameId, params.ref, body),
        }),
      }),
    ),
    route({
      method: "POST",
      path: `${base}/{leaderboardId}/rename`,
      tag,
      summary: "Rename a leaderboard",
      description: "Games that submit scores to the old name stop finding the leaderboard.",
      who: ["operator"],
      params: pathParams("gameId", "leaderboardId"),
      body: renameLeaderboardBody,
      answer: { status: 200, schema: one },
      errors: ["conflict"],
      handle: async ({ params, body }) => ({
        leaderboard: await renameLeaderboard(sql, params.gameId, params.leaderboardId, body.name),
      }),
    }),
  ];
}
