// The composition root: puts the parts together into a service. Nothing imports this but main and the tests.
import type { Env } from "@coinslot/contract";
import type { FastifyInstance } from "fastify";
import { catalogRoutes } from "./catalog/routes.ts";
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import type { Sql } from "./database/connect.ts";
import { watchDatabase } from "./database/watch-database.ts";
import { createEventSignal } from "./events/event-signal.ts";
import { eventRoutes } from "./events/routes.ts";
import { createGameLookup } from "./games/find-game.ts";
import { gameRoutes } from "./games/routes.ts";
import { hashCredential } from "./http/callers.ts";
import { createServer } from "./http/create-server.ts";
import { docsRoutes } from "./http/docs-routes.ts";
import { healthRoutes } from "./http/health-routes.ts";
import { forgetExpiredKeys } from "./http/idempotency.ts";
import type { Route } from "./http/route.ts";
import type { Ids } from "./ids.ts";
import { ensureKeys } from "./keys/ensure-keys.ts";
import { type Keyring, openKeyring } from "./keys/keyring.ts";
import { recordIssuer } from "./keys/record-issuer.ts";
import { keyRoutes } from "./keys/routes.ts";
import { leaderboardRoutes } from "./leaderboards/routes.ts";
import type { Log } from "./log.ts";
import { playerRoutes } from "./players/routes.ts";
import { verifyUserToken } from "./players/user-token.ts";
import { createFulfillPurchase } from "./purchases/fulfill-purchase.ts";
import { purchaseRoutes } from "./purchases/routes.ts";
import { findToken } from "./tokens/find-token.ts";
import { tokenRoutes } from "./tokens/routes.ts";
import { deliveryRoutes } from "./webhooks/delivery-routes.ts";
import { startDispatcher } from "./webhooks/dispatcher.ts";
import { webhookRoutes } from "./webhooks/routes.ts";
import type { Sender } from "./webhooks/sending/send-webhook.ts";

/** How often idempotency keys past their day are forgotten. */
const housekeepingMs = 60 * 60 * 1000;

export interface AppDeps {
  readonly config: Pick<Config, "authUrl" | "baseUrl" | "rateLimits" | "trustProxy">;
  readonly sql: Sql;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly masterKey: Buffer;
  readonly operatorToken: string;
  readonly log: Log;
  /** How webhooks are sent; null when this process does not send any. */
  readonly webhooks: { readonly sender: Pick<Sender, "send">; readonly attemptsKeepDays: number } | null;
  /** False when this process only sends webhooks: then it answers nothing but health checks. */
  readonly servesApi: boolean;
  readonly onAnswer?: (route: Route, answer: unknown) => void;
}

export interface App {
  readonly http: FastifyInstance;
  readonly routes: readonly Route[];
  readonly keyring: Keyring;
  /** Lets requests in flight finish, ends streams, and stops all work in the background. */
  stop(): Promise<void>;
}

/** The database must have been migrated. */
export async function createApp(base: AppDeps): Promise<App> {
  const { config, sql, clock, log } = base;
  await ensureKeys(sql, base);
  await recordIssuer(sql, config.authUrl, new Date(clock.nowMs()));
  const keyring = await openKeyring(base);
  const events = createEventSignal(clock);
  const stop = new AbortController();
  const dispatcher =
    base.webhooks === null ? null : startDispatcher({ ...base, ...base.webhooks, random: Math.random });
  const onDue = (gameId: string, env: Env) => dispatcher?.wake(gameId, env);
  const deps = {
    ...base,
    keyring,
    events,
    authUrl: config.authUrl,
    stopping: stop.signal,
    onDue,
    onEvents: (gameId: string, env: Env) => {
      events.notify(gameId);
      onDue(gameId, env);
    },
    fulfillPurchase: createFulfillPurchase(base),
  };

  const watch = watchDatabase(deps);
  const health = healthRoutes({ ...deps, isDatabaseUp: watch.isUp });
  const features = [
    ...gameRoutes(deps),
    ...leaderboardRoutes(deps),
    ...catalogRoutes(deps),
    ...purchaseRoutes(deps),
    ...eventRoutes(deps),
    ...playerRoutes(deps),
    ...tokenRoutes(deps),
    ...webhookRoutes(deps),
    ...deliveryRoutes(deps),
    ...keyRoutes(deps),
    ...health,
  ];
  const routes = base.servesApi ? [...features, ...docsRoutes(features, config.baseUrl)] : health;
  const http = createServer(
    {
      clock,
      log,
      ids: base.ids,
      baseUrl: config.baseUrl,
      trustProxy: config.trustProxy,
      rateLimits: config.rateLimits,
      gameExists: createGameLookup(sql),
      isDatabaseUp: watch.isUp,
      onAnswer: base.onAnswer,
      callers: {
        operatorTokenHash: hashCredential(base.operatorToken),
        findToken: (token) => findToken(deps, token),
        findPlayer: (userJwt) => verifyUserToken(deps, userJwt),
      },
    },
    routes,
  );
  const housekeeping = keepHouse(deps);

  return {
    http,
    routes,
    keyring,
    async stop() {
      stop.abort();
      await Promise.all([http.close(), dispatcher?.stop()]);
      await Promise.all([keyring.stop(), housekeeping, watch.ended]);
    },
  };
}

async function keepHouse(deps: { sql: Sql; clock: Clock; log: Log; stopping: AbortSignal }): Promise<void> {
  while (!deps.stopping.aborted) {
    await forgetExpiredKeys(deps).catch((error: unknown) =>
      deps.log.warn({ err: error }, "Housekeeping failed"),
    );
    await deps.clock.sleep(housekeepingMs, deps.stopping);
  }
}
