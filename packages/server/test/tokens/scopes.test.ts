// What each scope opens, and that it opens nothing else: every scope on every route of a game.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buy, createGame, createToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

const scopes = [
  "leaderboards:read",
  "leaderboards:write",
  "scores:write",
  "catalog:write",
  "purchases:read",
  "webhooks:read",
  "webhooks:write",
];

/** Written by hand, not read from the routes: this is what an access token is promised. */
const routes: [method: string, path: string, opens: string[], body?: object][] = [
  ["GET", "/leaderboards", ["leaderboards:read"]],
  ["GET", "/leaderboards/lb_x", ["leaderboards:read"]],
  ["GET", "/leaderboards/by-name/x", ["leaderboards:read"]],
  ["POST", "/leaderboards", ["leaderboards:write"], {}],
  ["PATCH", "/leaderboards/lb_x", ["leaderboards:write"], { visible: true }],
  ["PATCH", "/leaderboards/by-name/x", ["leaderboards:write"], { visible: true }],
  ["POST", "/leaderboards/lb_x/rename", [], { name: "x" }],
  ["GET", "/contents", ["catalog:write"]],
  ["GET", "/contents/x", ["catalog:write"]],
  ["POST", "/contents", ["catalog:write"], {}],
  ["PATCH", "/contents/x", ["catalog:write"], { title: "x" }],
  ["GET", "/purchases", ["purchases:read"]],
  ["GET", "/purchases/pur_x", ["purchases:read"]],
  ["GET", "/events", ["purchases:read"]],
  ["POST", "/purchases", [], {}],
  ["POST", "/purchases/pur_x/refund", [], {}],
  ["GET", "/webhooks", ["webhooks:read", "webhooks:write"]],
  ["GET", "/webhooks/PRODUCTION", ["webhooks:read", "webhooks:write"]],
  ["PUT", "/webhooks/PRODUCTION", ["webhooks:write"], {}],
  ["GET", "/deliveries", ["webhooks:read", "webhooks:write"]],
  ["GET", "/deliveries/dlv_x", ["webhooks:read", "webhooks:write"]],
  ["POST", "/deliveries/dlv_x/resend", ["webhooks:write"]],
  ["GET", "/tokens", []],
  ["POST", "/tokens", [], {}],
  ["DELETE", "/tokens/tok_x", []],
  ["POST", "/players/ann/tokens", [], {}],
  ["GET", "/me/entitlements", []],
  ["GET", "/me/entitlements/x", []],
  ["GET", "/me/purchases", []],
  ["POST", "/me/purchases/pur_x/fulfill", []],
  ["GET", "", []],
];

let service: TestService;
let gameId: string;
let otherGame: string;
const tokens = new Map<string, string>();
const strangers = new Map<string, string>();
beforeAll(async () => {
  service = await startTestService();
  ({ gameId } = await buy(service));
  otherGame = await createGame(service);
  for (const scope of scopes) {
    tokens.set(scope, await createToken(service, gameId, scope));
    strangers.set(scope, await createToken(service, otherGame, scope));
  }
});
afterAll(() => service.stop());

describe.each(scopes)("a token with the scope %s", (scope) => {
  test.each(routes)("%s %s", async (method, path, opens, body) => {
    const call = (token: string | undefined) =>
      service.call(method, `/api/games/${gameId}${path}`, { token: token ?? "", body });
    const own = await call(tokens.get(scope));
    // Let in, it meets the route's own 200, 400 or 404: the ids above do not exist.
    if (opens.includes(scope)) expect([200, 400, 404]).toContain(own.status);
    else expect(own.status).toBe(403);
    const strange = await call(strangers.get(scope));
    expect(strange.status).toBe(403);
    expect(strange.body.code).toBe("forbidden");
  });
});

test("the table names every route of a game that takes a credential", () => {
  const inTable = new Set(
    routes.map(([method, path]) =>
      `${method} /api/games/{}${path}`
        .replace(/(lb|pur|tok|dlv)_x/, "{}")
        .replace("by-name/x", "by-name/{}")
        .replace(/(contents|entitlements)\/x/, "$1/{}")
        .replace("/webhooks/PRODUCTION", "/webhooks/{}")
        .replace("/players/ann/", "/players/{}/"),
    ),
  );
  const served = service.app.routes
    .filter((route) => route.path.includes("{gameId}") && !route.path.endsWith("/stream"))
    .map((route) => `${route.method} ${route.path.replaceAll(/\{\w+\}/g, "{}")}`);
  expect([...inTable].sort()).toEqual(served.sort());
});

test("a token with two scopes opens what either opens, and nothing more", async () => {
  const token = await createToken(service, gameId, "leaderboards:read", "purchases:read");
  const status = async (path: string) =>
    (await service.call("GET", `/api/games/${gameId}${path}`, { token })).status;
  expect(await status("/leaderboards")).toBe(200);
  expect(await status("/purchases")).toBe(200);
  expect(await status("/webhooks")).toBe(403);
});

test("403 names the scope that is missing", async () => {
  const { body } = await service.call("GET", `/api/games/${gameId}/webhooks`, {
    token: tokens.get("purchases:read") ?? "",
  });
  expect(body.error).toContain("webhooks:read");
});

test("403 for another game's token does not show whether the game exists", async () => {
  const token = tokens.get("purchases:read") ?? "";
  const bodies = [];
  for (const game of [otherGame, "nobody", "%00", "x".repeat(300)]) {
    const answer = await service.call("GET", `/api/games/${game}/purchases`, { token });
    expect(answer.status).toBe(403);
    bodies.push(JSON.stringify(answer.body));
  }
  expect(new Set(bodies).size).toBe(1);
});

test("401 without a credential on every one of these routes", async () => {
  for (const [method, path, , body] of routes) {
    const answer = await service.call(method, `/api/games/${gameId}${path}`, { token: null, body });
    expect(answer.status, `${method} ${path}`).toBe(401);
  }
});
