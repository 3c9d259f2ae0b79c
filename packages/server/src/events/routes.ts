// The events feed over HTTP: every signed receipt of a game, in order, from a cursor.
import { env, event, limits } from "@coinslot/contract";
import { z } from "zod";
import type { Clock } from "../clock.ts";
import type { Sql } from "../database/connect.ts";
import { ApiError, invalidInput } from "../http/api-error.ts";
import { nameCaller } from "../http/callers.ts";
import { pageQuery } from "../http/pages.ts";
import { pathParams } from "../http/path-params.ts";
import { type Route, route } from "../http/route.ts";
import type { Log } from "../log.ts";
import { positionOf, readEvents, showEvent } from "./event-row.ts";
import type { EventSignal } from "./event-signal.ts";
import { StalledReader, streamEvents } from "./stream-events.ts";

export interface EventDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventSignal;
  /** Aborts when the service stops: streams end then. */
  readonly stopping: AbortSignal;
}

const eventId = z
  .string()
  .max(64)
  .regex(/^evt_[0-9a-z]+$/, { error: "must be the id of an event" });
const feedQuery = z.object({
  cursor: eventId.optional().describe("The same as `after`: where every other list takes its `nextCursor`."),
  after: eventId
    .optional()
    .describe(
      "The id of the last event already read; what comes after it is answered. Left out: from the first.",
    ),
  env: env.optional().describe("Only events of this environment."),
});
const base = "/api/games/{gameId}/events";
const tag = "Events";

export function eventRoutes(deps: EventDeps): Route[] {
  const { sql } = deps;
  const streams = createStreamCounter();
  return [
    route({
      method: "GET",
      path: base,
      tag,
      summary: "Read the events feed",
      description:
        "Every signed receipt of the game in the order of commits; an event that commits later never appears in " +
        "front of one already read. At the end `nextCursor` is null: ask again later with `after` = the last event's id.",
      who: ["operator", "purchases:read"],
      params: pathParams("gameId"),
      query: feedQuery.extend({ limit: pageQuery.shape.limit }),
      answer: {
        status: 200,
        schema: z.object({ events: z.array(event), nextCursor: z.string().nullable() }),
      },
      handle: async ({ params, query }) => {
        const position = await positionOf(sql, params.gameId, query.after ?? query.cursor);
        const rows = await readEvents(sql, params.gameId, {
          position,
          env: query.env,
          limit: query.limit + 1,
        });
        const page = rows.slice(0, query.limit);
        return {
          events: page.map(showEvent),
          nextCursor: rows.length > query.limit ? (page.at(-1)?.id ?? null) : null,
        };
      },
    }),
    route({
      method: "GET",
      path: `${base}/stream`,
      tag,
      summary: "Follow the events feed",
      description:
        "Server-sent events: `id` is the event's id, `event` its kind, `data` the same object as in the feed. " +
        "Goes on after `after` or the `Last-Event-ID` header; without either it starts with the first event.",
      who: ["operator", "purchases:read"],
      params: pathParams("gameId"),
      query: feedQuery,
      answer: { status: 200, schema: z.string(), mediaType: "text/event-stream" },
      handle: async ({ params, query, caller, recheck, request, reply }) => {
        const lastId = eventId.optional().safeParse(request.headers["last-event-id"]);
        if (!lastId.success)
          throw invalidInput("Last-Event-ID: must be the id of an event.", "Last-Event-ID");
        const after = query.after ?? query.cursor ?? lastId.data;
        const position = await positionOf(sql, params.gameId, after);
        const leave = streams.enter(`${nameCaller(caller)} ${params.gameId}`);
        const gone = new AbortController();
        reply.raw.on("close", () => gone.abort());
        reply.hijack();
        reply.raw.writeHead(200, {
          ...(reply.getHeaders() as Record<string, string>),
          "content-type": "text/event-stream; charset=utf-8",
          "x-accel-buffering": "no",
        });
        try {
          const signal = AbortSignal.any([gone.signal, deps.stopping]);
          await streamEvents(deps, reply.raw, {
            gameId: params.gameId,
            position,
            env: query.env,
            recheck,
            signal,
          });
        } catch (error) {
          // The answer has begun, so the only way to say anything is to end it; the reader comes back and is told.
          if (!gone.signal.aborted && !(error instanceof ApiError) && !(error instanceof StalledReader))
            deps.log.warn({ err: error }, "A stream ended early");
        } finally {
          leave();
          // Who takes nothing in would not take the end in either, and hold the socket and what is left in it.
          if (reply.raw.writableNeedDrain) reply.raw.destroy();
          else reply.raw.end();
        }
        return "";
      },
    }),
  ];
}

/** Streams are kept open, so they are counted: in all, and by caller. */
function createStreamCounter() {
  const byCaller = new Map<string, number>();
  let total = 0;
  return {
    enter(caller: string): () => void {
      const count = byCaller.get(caller) ?? 0;
      if (count >= limits.eventStreamsPerCallerMaxCount) {
        throw new ApiError(
          "rate_limited",
          "Too many streams are open with this credential. Close one first.",
          { retryAfterS: 5 },
        );
      }
      if (total >= limits.eventStreamsMaxCount) {
        throw new ApiError("unavailable", "Too many streams are open. Try again shortly.", {
          retryAfterS: 5,
        });
      }
      byCaller.set(caller, count + 1);
      total++;
      return () => {
        total--;
        const left = (byCaller.get(caller) ?? 1) - 1;
        if (left === 0) byCaller.delete(caller);
        else byCaller.set(caller, left);
      };
    },
  };
}
