// POST, GET /api/games and GET one.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createGame, createPlayerToken, createToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const create = (body: unknown) => service.call("POST", "/api/games", { body });
const count = async () => (await service.database.sql`SELECT 1 FROM games`).length;

describe("POST game", () => {
  test.each(["my-game", "A", "0", "com.studio.Game_2", "a".repeat(64)])("201 with the id %s", async (id) => {
    const { status, body } = await create({ id, title: "Möbius 🏁" });
    expect(status).toBe(201);
    expect(body).toStrictEqual({ game: { id, title: "Möbius 🏁" } });
    expect((await service.call("GET", `/api/games/${id}`)).body).toStrictEqual(body);
  });

  test("201 without an id: the service makes one, another each time", async () => {
    const [one, two] = [await create({ title: "Same" }), await create({ title: "Same" })];
    for (const { status, body } of [one, two]) {
      expect(status).toBe(201);
      expect(body.game.id).toMatch(/^game_[0-9a-z]{26}$/);
    }
    expect(one.body.game.id).not.toBe(two.body.game.id);
  });

  test("201 and the game can sell at once", async () => {
    const { body } = await create({ title: "Ready" });
    const answer = await service.call("GET", `/api/games/${body.game.id}/events`);
    expect(answer.body).toEqual({ events: [], nextCursor: null });
  });

  test("409 for an id that is taken, and the first game stays as it is", async () => {
    await create({ id: "taken", title: "First" });
    const before = await count();
    const { status, body } = await create({ id: "taken", title: "Second" });
    expect(status).toBe(409);
    expect(body).toMatchObject({ code: "conflict", field: "id" });
    expect(await count()).toBe(before);
    expect((await service.call("GET", "/api/games/taken")).body.game.title).toBe("First");
  });

  test("201 for an id that differs in case: ids are exact", async () => {
    await create({ id: "cased", title: "x" });
    expect((await create({ id: "Cased", title: "x" })).status).toBe(201);
  });

  test("409 for all but one of many with one id at once", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create({ id: "rush", title: "x" })));
    expect(answers.map((answer) => answer.status).sort()).toEqual([
      201,
      ...Array.from({ length: 7 }, () => 409),
    ]);
  });

  test.each([
    ["id", ""],
    ["id", "a".repeat(65)],
    ["id", "."],
    ["id", ".."],
    ["id", "-a"],
    ["id", "_a"],
    ["id", "a/b"],
    ["id", "a b"],
    ["id", "a\n"],
    ["id", "é"],
    ["id", "a\u0000"],
    ["id", "a%20"],
    ["id", null],
    ["id", 7],
    ["title", undefined],
    ["title", ""],
    ["title", "a".repeat(201)],
    ["title", "a\u0007"],
    ["title", "\ud800"],
    ["title", null],
    ["title", {}],
  ])("400 when %s is %j", async (field, value) => {
    const before = await count();
    const { status, body } = await create({ id: "fine", title: "Fine", [field]: value });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "invalid_input", field });
    expect(await count()).toBe(before);
  });

  test("401 without a credential and with a wrong one; 403 for access tokens and players", async () => {
    const gameId = await createGame(service);
    const body = { id: "not-made", title: "x" };
    const token = await createToken(service, gameId, "catalog:write");
    const player = await createPlayerToken(service, gameId, "ann");
    const callers: [string | null, number][] = [
      [null, 401],
      ["wrong", 401],
      [`${service.operatorToken}x`, 401],
      [service.operatorToken.slice(0, -1), 401],
      [token, 403],
      [player, 403],
    ];
    for (const [caller, status] of callers) {
      expect((await service.call("POST", "/api/games", { token: caller, body })).status).toBe(status);
    }
    expect((await service.call("GET", "/api/games/not-made")).status).toBe(404);
  });
});

describe("GET games", () => {
  test("200 in pages, every game once", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(await createGame(service));
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? "" : `&cursor=${cursor}`;
      const { body } = await service.call("GET", `/api/games?limit=2${query}`);
      expect(body.games.length).toBeLessThanOrEqual(2);
      seen.push(...body.games.map((game: { id: string }) => game.id));
      cursor = body.nextCursor;
    } while (cursor !== null);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toHaveLength(await count());
    expect(seen).toEqual(expect.arrayContaining(ids));
  });

  test.each(["?limit=0", "?limit=201", "?limit=x", "?cursor=*", "?cursor=AAAA"])(
    "400 for %s",
    async (query) => {
      const { status, body } = await service.call("GET", `/api/games${query}`);
      expect(status).toBe(400);
      expect(body.code).toBe("invalid_input");
    },
  );

  test("403 for an access token: a game's token does not see other games", async () => {
    const gameId = await createGame(service);
    const token = await createToken(service, gameId, "leaderboards:read");
    expect((await service.call("GET", "/api/games", { token })).status).toBe(403);
    expect((await service.call("GET", `/api/games/${gameId}`, { token })).status).toBe(403);
  });
});

describe("GET game", () => {
  test.each(["nobody", "%00", "%F0%9F%8F%86", "a".repeat(200)])("404 for %s", async (id) => {
    const { status, body } = await service.call("GET", `/api/games/${id}`);
    expect(status).toBe(404);
    expect(body.code).toBe("not_found");
  });
});
