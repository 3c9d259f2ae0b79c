// Webhook settings over HTTP: one URL for each environment.
import { type Env, env, putWebhookBody, webhook } from "@coinslot/contract";
import { z } from "zod";
import type { Clock } from "../clock.ts";
import type { Sql } from "../database/connect.ts";
import { pathParams } from "../http/path-params.ts";
import { type Route, route } from "../http/route.ts";
import { setWebhook } from "./set-webhook.ts";

const base = "/api/games/{gameId}/webhooks";
const one = z.object({ webhook });
const envParams = pathParams("gameId").extend({ env });
const tag = "Webhooks";

export function webhookRoutes(deps: { sql: Sql; clock: Clock }): Route[] {
  const { sql } = deps;
  const read = async (gameId: string, asked: readonly Env[]) => {
    const rows = await sql<
      { env: Env; url: string }[]
    >`SELECT env, url FROM webhook_endpoints WHERE game_id = ${gameId}`;
    return asked.map((name) => ({ env: name, url: rows.find((row) => row.env === name)?.url ?? "" }));
  };
  return [
    route({
      method: "PUT",
      path: `${base}/{env}`,
      tag,
      summary: "Set the webhook URL of an environment",
      who: ["operator", "webhooks:write"],
      params: envParams,
      body: putWebhookBody,
      answer: { status: 200, schema: one },
      handle: async ({ params, body }) => ({
        webhook: await setWebhook(deps, params.gameId, params.env, body.url),
      }),
    }),
    route({
      method: "GET",
      path: `${base}/{env}`,
      tag,
      summary: "Read the webhook URL of an environment",
      who: ["operator", "webhooks:read", "webhooks:write"],
      params: envParams,
      answer: { status: 200, schema: one },
      handle: async ({ params }) => {
        const [found] = await read(params.gameId, [params.env]);
        return { webhook: found ?? { env: params.env, url: "" } };
      },
    }),
    route({
      method: "GET",
      path: base,
      tag,
      summary: "Read the webhook URLs of a game",
      who: ["operator", "webhooks:read", "webhooks:write"],
      params: pathParams("gameId"),
      answer: { status: 200, schema: z.object({ webhooks: z.array(webhook), nextCursor: z.null() }) },
      handle: async ({ params }) => ({ webhooks: await read(params.gameId, env.options), nextCursor: null }),
    }),
  ];
}
