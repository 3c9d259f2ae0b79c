// Player tokens open a player's own routes and a few to read; no other credential opens a player's own.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buy, createGame, createPlayerToken, createToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

const mine: [method: string, path: string][] = [
  ["GET", "/me/entitlements"],
  ["GET", "/me/entitlements/x"],
  ["GET", "/me/purchases"],
  ["POST", "/me/purchases/pur_x/fulfill"],
];

const readable: [method: string, path: string][] = [
  ["GET", "/leaderboards"],
  ["GET", "/leaderboards/lb_x"],
  ["GET", "/leaderboards/by-name/x"],
  ["GET", "/contents"],
  ["GET", "/contents/x"],
];

const closed: [method: string, path: string, body?: object][] = [
  ["POST", "/leaderboards", { name: "x", sortOrder: 0, displayType: 0 }],
  ["PATCH", "/leaderboards/lb_x", { visible: true }],
  ["PATCH", "/leaderboards/by-name/x", { visible: true }],
  ["POST", "/leaderboards/lb_x/rename", { name: "x" }],
  ["POST", "/contents", {}],
  ["PATCH", "/contents/x", { title: "x" }],
  ["GET", "/purchases"],
  ["GET", "/purchases/pur_x"],
  ["POST", "/purchases", {}],
  ["POST", "/purchases/pur_x/refund"],
  ["GET", "/events"],
  ["GET", "/events/stream"],
  ["GET", "/tokens"],
  ["POST", "/tokens", {}],
  ["DELETE", "/tokens/tok_x"],
  ["GET", "/webhooks"],
  ["GET", "/webhooks/PRODUCTION"],
  ["PUT", "/webhooks/PRODUCTION", { url: "" }],
  ["POST", "/players/ann/tokens", {}],
  ["GET", ""],
];

let service: TestService;
let gameId: string;
let player: string;
let everyScope: string;
beforeAll(async () => {
  service = await startTestService();
  ({ gameId } = await buy(service, { userId: "ann" }));
  player = await createPlayerToken(service, gameId, "ann");
  everyScope = await createToken(
    service,
    gameId,
    "leaderboards:read",
    "leaderboards:write",
    "scores:write",
    "catalog:write",
    "purchases:read",
    "webhooks:read",
    "webhooks:write",
  );
});
afterAll(() => service.stop());

const call = (method: string, path: string, token: string | null, body?: object) =>
  service.call(method, `/api/games/${gameId}${path}`, { token, body });

describe.each(mine)("%s %s", (method, path) => {
  test("200 or 404 for the player, 403 for the operator and every access token, 401 for nobody", async () => {
    expect([200, 404]).toContain((await call(method, path, player)).status);
    for (const token of [service.operatorToken, everyScope]) {
      const { status, body } = await call(method, path, token);
      expect(status).toBe(403);
      expect(body.code).toBe("forbidden");
    }
    expect((await call(method, path, null)).status).toBe(401);
  });

  test("403 for a player of another game", async () => {
    const stranger = await createPlayerToken(service, await createGame(service), "ann");
    expect((await call(method, path, stranger)).status).toBe(403);
  });
});

test.each(readable)("%s %s: 200 or 404 for a player", async (method, path) => {
  expect([200, 404]).toContain((await call(method, path, player)).status);
});

test.each(closed)("%s %s: 403 for a player", async (method, path, body) => {
  const answer = await call(method, path, player, body);
  expect(answer.status).toBe(403);
  expect(answer.body.code).toBe("forbidden");
});

test.each([
  ["GET", "/api/games"],
  ["POST", "/api/games"],
])("%s %s: 403 for a player", async (method, path) => {
  const body = method === "POST" ? { title: "x" } : undefined;
  expect((await service.call(method, path, { token: player, body })).status).toBe(403);
});
