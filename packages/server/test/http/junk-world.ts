// What junk is made from: a game with one of everything, a request that would succeed for each operation, and a
// fingerprint of the whole database to see that nothing changed.
import { accessTokenScopes } from "@coinslot/contract";
import type { OpenApi } from "../../src/http/openapi-types.ts";
import { makeToken } from "../../src/tokens/access-token.ts";
import { buy, createContent, createPlayerToken, createToken } from "../support/seed.ts";
import type { TestService } from "../support/test-service.ts";
import type { Described } from "./document.ts";
import type { RawRequest } from "./raw-request.ts";

export interface World {
  /** A value that exists for every name in a path. */
  readonly params: Readonly<Record<string, string>>;
  readonly receiptJwt: string;
  /** Good credentials by the scheme they belong to. */
  readonly good: Readonly<Record<string, string>>;
}

const hourMs = 60 * 60 * 1000;

export async function createWorld(service: TestService): Promise<World> {
  const { gameId, userId, purchaseId, receiptJwt } = await buy(service, { type: "CONSUMABLE" });
  const path = `/api/games/${gameId}`;
  const { body: doomed } = await service.call("POST", `${path}/tokens`, {
    body: { label: "To delete", scopes: ["scores:write"] },
  });
  const { body: board } = await service.call("POST", `${path}/leaderboards`, {
    body: { name: "The one board", sortOrder: 1, displayType: 0 },
  });
  const url = "https://receiver.example/webhooks";
  await service.call("PUT", `${path}/webhooks/PRODUCTION`, { body: { url } });
  const { body: list } = await service.call("GET", `${path}/deliveries`);
  return {
    params: {
      gameId,
      userId,
      purchaseId,
      deliveryId: list.deliveries[0].id,
      contentIdentifier: await createContent(service, gameId, "DURABLE"),
      leaderboardId: board.leaderboard.id,
      name: board.leaderboard.name,
      tokenId: doomed.token.id,
      env: "PLAYTEST",
    },
    receiptJwt,
    good: {
      operatorToken: service.operatorToken,
      accessToken: await createToken(service, gameId, ...accessTokenScopes),
      userToken: await createPlayerToken(service, gameId, userId),
    },
  };
}

/** Credentials that once were, or elsewhere are, good. Hours pass meanwhile. */
export async function spoilCredentials(service: TestService, world: World): Promise<string[]> {
  const { gameId = "", userId = "" } = world.params;
  const path = `/api/games/${gameId}/tokens`;
  const soon = new Date(Date.now() + 5 * hourMs).toISOString();
  const expired = await service.call("POST", path, {
    body: { label: "Expired", scopes: accessTokenScopes, expiresAt: soon },
  });
  const expiredUserToken = await createPlayerToken(service, gameId, userId);
  service.advance(6 * hourMs);
  const revoked = await service.call("POST", path, { body: { label: "Revoked", scopes: accessTokenScopes } });
  await service.call("DELETE", `${path}/${revoked.body.token.id}`);
  const other = await buy(service);
  return [
    expired.body.accessToken,
    expiredUserToken,
    revoked.body.accessToken,
    makeToken("cst_", (size) => Buffer.alloc(size, 7)),
    await createToken(service, other.gameId, ...accessTokenScopes),
    await createPlayerToken(service, other.gameId, other.userId),
    world.receiptJwt,
    other.receiptJwt,
  ];
}

export async function renewUserToken(service: TestService, world: World): Promise<World> {
  const { gameId = "", userId = "" } = world.params;
  return { ...world, good: { ...world.good, userToken: await createPlayerToken(service, gameId, userId) } };
}

/** The document's own example, with the ids of things that exist. */
export function bodyOf(world: World, { operation }: Described): Record<string, unknown> | undefined {
  const example = operation.requestBody?.content["application/json"]?.example;
  if (example === undefined) return undefined;
  const body: Record<string, unknown> = { ...example };
  if ("receiptJwt" in body) body["receiptJwt"] = world.receiptJwt;
  if (operation.operationId === "createPurchase")
    body["contentIdentifier"] = world.params["contentIdentifier"];
  return body;
}

export function credentialsOf(world: World, { operation }: Described): string[] {
  const schemes = new Set(operation.security.flatMap((one) => Object.keys(one)));
  return [...schemes].map((scheme) => world.good[scheme] ?? "");
}

export function pathOf(
  world: World,
  { path }: Described,
  junk: Readonly<Record<string, string>> = {},
): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = junk[name] ?? world.params[name];
    if (value === undefined) throw new Error(`Junk needs an existing {${name}}: add one to createWorld`);
    return value;
  });
}

/** A request that would succeed. */
export function goodRequest(
  world: World,
  described: Described,
): RawRequest & { headers: [string, string][] } {
  const [credential] = credentialsOf(world, described);
  const body = bodyOf(world, described);
  return {
    method: described.method,
    path: pathOf(world, described),
    headers: [
      ...(credential === undefined ? [] : [["Authorization", `Bearer ${credential}`] as [string, string]]),
      ...(body === undefined ? [] : [["Content-Type", "application/json"] as [string, string]]),
    ],
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
}

/** Every row of every table, but for when a token was last used: a good token is used to carry junk. */
export async function createFingerprint(service: TestService): Promise<() => Promise<string>> {
  const { sql } = service.database;
  const tables = await sql<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`;
  const query = tables
    .map(
      ({ name }) =>
        `SELECT '${name}' AS name, count(*) || md5(coalesce(string_agg(row, ',' ORDER BY row), '')) AS hash
         FROM (SELECT (to_jsonb(t) - 'last_used_at')::text AS row FROM "${name}" t) rows`,
    )
    .join(" UNION ALL ");
  return async () => JSON.stringify(await sql.unsafe(query));
}

export async function readDocument(service: TestService): Promise<OpenApi> {
  return (await service.call("GET", "/openapi.json", { token: null })).body;
}
