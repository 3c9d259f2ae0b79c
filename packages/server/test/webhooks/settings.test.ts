// PUT and GET .../webhooks: one URL for each environment.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createGame, createPlayerToken, createToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let service: TestService;
/** The game whose URL no refused request may change. */
let untouched: string;
beforeAll(async () => {
  service = await startTestService();
  untouched = await createGame(service);
  await put(untouched, "PRODUCTION", "https://kept.example/");
});
afterAll(() => service.stop());

const address = (gameId: string, env = "PRODUCTION") => `/api/games/${gameId}/webhooks/${env}`;
const put = (gameId: string, env: string, url: unknown) =>
  service.call("PUT", address(gameId, env), { body: { url } });
const read = async (gameId: string, env: string) =>
  (await service.call("GET", address(gameId, env))).body.webhook.url;

describe("PUT webhook", () => {
  test("200 sets the URL of one environment and leaves the other alone", async () => {
    const gameId = await createGame(service);
    const answer = await put(gameId, "PLAYTEST", "https://play.example/webhooks/service?x=1");
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      webhook: { env: "PLAYTEST", url: "https://play.example/webhooks/service?x=1" },
    });
    expect(await read(gameId, "PLAYTEST")).toBe("https://play.example/webhooks/service?x=1");
    expect(await read(gameId, "PRODUCTION")).toBe("");
  });

  test("200 replaces the URL, and a blank one turns webhooks off", async () => {
    const gameId = await createGame(service);
    for (const url of ["https://one.example/", "https://two.example/", "", "https://three.example/"]) {
      expect((await put(gameId, "PRODUCTION", url)).body).toEqual({ webhook: { env: "PRODUCTION", url } });
      expect(await read(gameId, "PRODUCTION")).toBe(url);
    }
  });

  test("200 leaves another game's URL alone", async () => {
    const [mine, other] = [await createGame(service), await createGame(service)];
    await put(other, "PRODUCTION", "https://other.example/");
    await put(mine, "PRODUCTION", "https://mine.example/");
    await put(mine, "PRODUCTION", "");
    expect(await read(other, "PRODUCTION")).toBe("https://other.example/");
  });

  test.each([
    "http://example.com/hook",
    "HTTPS://example.com/hook",
    "https:example.com/hook",
    "https:/example.com/hook",
    "https:///example.com/hook",
    "ftp://example.com/hook",
    "javascript:alert(1)",
    "example.com/hook",
    "https://",
    "https://user@example.com/hook",
    "https://user:pw@example.com/hook",
    "https://@example.com/hook",
    "https://example.com/hook#part",
    "https://example.com/hook#",
    "https://example.com:99999/hook",
    "https://exam ple.com/hook",
    " https://example.com/hook",
    "   ",
    "\n",
    "junk",
    "https://example.com/\u0000",
    "https://example.com/\ud800",
    null,
    1,
    ["https://example.com"],
    undefined,
  ])("400 for %j, and the URL stays", async (url) => {
    const { status, body } = await put(untouched, "PRODUCTION", url);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "invalid_input", field: "url" });
    expect(await read(untouched, "PRODUCTION")).toBe("https://kept.example/");
  });

  test("400 for an address of 2049 characters, 200 for one of 2048", async () => {
    const gameId = await createGame(service);
    const longest = "https://example.com/".padEnd(2_048, "a");
    expect((await put(gameId, "PRODUCTION", `${longest}a`)).status).toBe(400);
    expect((await put(gameId, "PRODUCTION", longest)).status).toBe(200);
    expect(await read(gameId, "PRODUCTION")).toBe(longest);
  });

  test.each(["production", "STAGING", "%00", "PRODUCTION%20"])("404 for environment %s", async (env) => {
    const gameId = await createGame(service);
    const answer = await put(gameId, env, "https://example.com/");
    expect(answer.status).toBe(404);
    expect(answer.body.code).toBe("not_found");
    const rows = await service.database.sql`SELECT 1 FROM webhook_endpoints WHERE game_id = ${gameId}`;
    expect(rows).toHaveLength(0);
  });

  test("404 for a game that does not exist", async () => {
    expect((await put("nobody", "PRODUCTION", "https://example.com/")).status).toBe(404);
  });
});

describe("GET webhooks", () => {
  test("200 lists both environments, blank where none was set", async () => {
    const gameId = await createGame(service);
    await put(gameId, "PLAYTEST", "https://play.example/");
    const { status, body } = await service.call("GET", `/api/games/${gameId}/webhooks`);
    expect(status).toBe(200);
    expect(body).toEqual({
      webhooks: [
        { env: "PRODUCTION", url: "" },
        { env: "PLAYTEST", url: "https://play.example/" },
      ],
      nextCursor: null,
    });
  });

  test("200 for one environment that was never set: blank", async () => {
    const { status, body } = await service.call("GET", address(await createGame(service), "PLAYTEST"));
    expect(status).toBe(200);
    expect(body).toEqual({ webhook: { env: "PLAYTEST", url: "" } });
  });

  test("404 for an unknown environment and an unknown game", async () => {
    expect((await service.call("GET", address(await createGame(service), "nope"))).status).toBe(404);
    expect((await service.call("GET", address("nobody"))).status).toBe(404);
  });
});

describe("who may", () => {
  test("200 for webhooks:write on PUT and GET; 403 for webhooks:read on PUT", async () => {
    const gameId = await createGame(service);
    const writer = await createToken(service, gameId, "webhooks:write");
    const reader = await createToken(service, gameId, "webhooks:read");
    const body = { url: "https://example.com/" };
    expect((await service.call("PUT", address(gameId), { token: reader, body })).status).toBe(403);
    expect(await read(gameId, "PRODUCTION")).toBe("");
    expect((await service.call("PUT", address(gameId), { token: writer, body })).status).toBe(200);
    for (const token of [reader, writer]) {
      expect((await service.call("GET", address(gameId), { token })).body.webhook.url).toBe(body.url);
    }
  });

  test("401 without a credential; 403 for a player and for another game's token", async () => {
    const gameId = await createGame(service);
    const body = { url: "https://example.com/" };
    const player = await createPlayerToken(service, gameId, "ann");
    const stranger = await createToken(service, await createGame(service), "webhooks:write");
    expect((await service.call("PUT", address(gameId), { token: null, body })).status).toBe(401);
    expect((await service.call("PUT", address(gameId), { token: player, body })).status).toBe(403);
    expect((await service.call("PUT", address(gameId), { token: stranger, body })).status).toBe(403);
    expect(await read(gameId, "PRODUCTION")).toBe("");
  });
});
