// The catalog over HTTP: what a game sells.
import { content, createContentBody, updateContentBody } from "@coinslot/contract";
import { z } from "zod";
import type { IdempotencyDeps } from "../http/idempotency.ts";
import { cutPage, decodeCursor, pageQuery } from "../http/pages.ts";
import { pathParams } from "../http/path-params.ts";
import { type Route, route } from "../http/route.ts";
import { type ContentRow, contentColumns, showContent } from "./content-row.ts";
import { createContent } from "./create-content.ts";
import { contentNotFound, updateContent } from "./update-content.ts";

const base = "/api/games/{gameId}/contents";
const one = z.object({ content });
const tag = "Catalog";

export function catalogRoutes(deps: IdempotencyDeps): Route[] {
  const { sql } = deps;
  return [
    route({
      method: "POST",
      path: base,
      tag,
      summary: "Add content to the catalog",
      who: ["operator", "catalog:write"],
      params: pathParams("gameId"),
      body: createContentBody,
      answer: { status: 201, schema: one },
      handle: async ({ params, body, idempotency }) => ({
        content: await createContent(deps, params.gameId, body, idempotency),
      }),
    }),
    route({
      method: "GET",
      path: base,
      tag,
      summary: "List the catalog",
      who: ["operator", "catalog:write", "player"],
      params: pathParams("gameId"),
      query: pageQuery,
      answer: {
        status: 200,
        schema: z.object({ contents: z.array(content), nextCursor: z.string().nullable() }),
      },
      handle: async ({ params, query }) => {
        const after = decodeCursor(query.cursor, /^[A-Za-z0-9._:-]{1,128}$/) ?? "";
        const rows = await sql<ContentRow[]>`
          SELECT ${contentColumns(sql)} FROM contents
          WHERE game_id = ${params.gameId} AND content_identifier > ${after}
          ORDER BY content_identifier LIMIT ${query.limit + 1}`;
        const { page, nextCursor } = cutPage(rows, query.limit, (row) => row.contentIdentifier);
        return { contents: page.map(showContent), nextCursor };
      },
    }),
    route({
      method: "GET",
      path: `${base}/{contentIdentifier}`,
      tag,
      summary: "Read one content item",
      who: ["operator", "catalog:write", "player"],
      params: pathParams("gameId", "contentIdentifier"),
      answer: { status: 200, schema: one },
      handle: async ({ params }) => {
        const [row] = await sql<ContentRow[]>`
          SELECT ${contentColumns(sql)} FROM contents
          WHERE game_id = ${params.gameId} AND content_identifier = ${params.contentIdentifier}`;
        if (row === undefined) throw contentNotFound();
        return { content: showContent(row) };
      },
    }),
    route({
      method: "PATCH",
      path: `${base}/{contentIdentifier}`,
      tag,
      summary: "Change a content item",
      description: "Only the fields sent change. The identifier and the type never do.",
      who: ["operator", "catalog:write"],
      params: pathParams("gameId", "contentIdentifier"),
      body: updateContentBody,
      answer: { status: 200, schema: one },
      handle: async ({ params, body }) => ({
        content: await updateContent(deps, params.gameId, params.contentIdentifier, body),
      }),
    }),
  ];
}
