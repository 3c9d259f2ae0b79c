// A caller of one game learns nothing about another: things that exist and things that do not look the same.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bought, buy, createPlayerToken, createToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

const scopes = [
  "leaderboards:read",
  "leaderboards:write",
  "catalog:write",
  "purchases:read",
  "webhooks:read",
  "webhooks:write",
];
let service: TestService;
let mine: Bought;
let theirs: Bought;
let theirBoard: { id: string; name: string };
let theirEventId: string;
let token: string;
let player: string;

beforeAll(async () => {
  service = await startTestService();
  mine = await buy(service);
  theirs = await buy(service);
  token = await createToken(service, mine.gameId, ...scopes);
  player = await createPlayerToken(service, mine.gameId, mine.userId);
  const board = await service.call("POST", `/api/games/${theirs.gameId}/leaderboards`, {
    body: { name: "speedrun", sortOrder: 0, displayType: 0 },
  });
  theirBoard = board.body.leaderboard;
  const feed = await service.call("GET", `/api/games/${theirs.gameId}/events`);
  theirEventId = feed.body.events[0].id;
});
afterAll(() => service.stop());

/** The whole answer but for what names the request itself. */
async function raw(method: string, path: string, credential: string, body?: unknown): Promise<string> {
  const response = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${credential}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const headers = [...response.headers].filter(([name]) => !["date", "x-request-id"].includes(name));
  return JSON.stringify([response.status, headers, await response.text()]);
}

describe("another game", () => {
  it.each([
    ["GET", "/leaderboards"],
    ["GET", "/contents"],
    ["GET", "/purchases"],
    ["GET", "/events"],
    ["GET", "/events/stream"],
    ["GET", "/webhooks"],
    ["GET", "/me/purchases"],
    ["GET", "/me/entitlements"],
    ["GET", ""],
    ["POST", "/leaderboards"],
    ["POST", "/purchases"],
    ["PUT", "/webhooks/PRODUCTION"],
  ])(
    "403 %s /api/games/{gameId}%s in the same bytes whether or not the game exists",
    async (method, path) => {
      for (const credential of [token, player]) {
        const body = method === "GET" ? undefined : {};
        const existing = await raw(method, `/api/games/${theirs.gameId}${path}`, credential, body);
        const missing = await raw(method, `/api/games/no-such-game${path}`, credential, body);
        expect(existing).toBe(missing);
        expect(JSON.parse(existing)[0]).toBe(403);
      }
    },
  );
});

describe("things of another game, under one's own", () => {
  const both = async (make: (id: string) => string, existing: string, missing: string, method = "GET") => {
    const body = method === "PATCH" ? { visible: false } : undefined;
    const answers = await Promise.all([existing, missing].map((id) => raw(method, make(id), token, body)));
    // The sentence may repeat what was asked for, but nothing else may differ.
    expect(answers[0]?.replaceAll(existing, "ID")).toBe(answers[1]?.replaceAll(missing, "ID"));
    return JSON.parse(answers[0] ?? "[]")[0];
  };
  const own = (path: string) => (id: string) => `/api/games/${mine.gameId}${path}${id}`;

  it("404 GET and PATCH a leaderboard by id and by name", async () => {
    const noBoard = `lb_${"0".repeat(26)}`;
    for (const method of ["GET", "PATCH"]) {
      expect(await both(own("/leaderboards/"), theirBoard.id, noBoard, method)).toBe(404);
      expect(await both(own("/leaderboards/by-name/"), theirBoard.name, "nothing1", method)).toBe(404);
    }
  });

  it("404 GET a purchase, 404 GET content", async () => {
    expect(await both(own("/purchases/"), theirs.purchaseId, `pur_${"0".repeat(26)}`)).toBe(404);
    expect(await both(own("/contents/"), theirs.contentIdentifier, "consumable-0")).toBe(404);
  });

  it("400 GET events after an event of another game", async () => {
    expect(await both(own("/events?after="), theirEventId, `evt_${"0".repeat(26)}`)).toBe(400);
  });

  it("404 POST me/purchases/{purchaseId}/fulfill of another player, another game, or nobody", async () => {
    const neighbour = await buy(service, { gameId: mine.gameId });
    const answers = await Promise.all(
      [neighbour.purchaseId, theirs.purchaseId, `pur_${"0".repeat(26)}`].map((purchaseId) =>
        raw("POST", `/api/games/${mine.gameId}/me/purchases/${purchaseId}/fulfill`, player),
      ),
    );
    expect(new Set(answers).size).toBe(1);
    expect(JSON.parse(answers[0] ?? "[]")[0]).toBe(404);
  });
});

describe("credentials", () => {
  it("401 in the same bytes for a token that never was and one that was revoked", async () => {
    const made = await service.call("POST", `/api/games/${mine.gameId}/tokens`, {
      body: { label: "x", scopes: ["leaderboards:read"] },
    });
    const path = `/api/games/${mine.gameId}/leaderboards`;
    await service.call("DELETE", `/api/games/${mine.gameId}/tokens/${made.body.token.id}`);
    const revoked = await raw("GET", path, made.body.accessToken);
    expect(JSON.parse(revoked)[0]).toBe(401);
    expect(await raw("GET", path, `cst_${"0".repeat(49)}`)).toBe(revoked);
    expect(await raw("GET", "/api/games/no-such-game/leaderboards", made.body.accessToken)).toBe(revoked);
  });
});
