// POST .../leaderboards: makes a board under the normalised form of its name.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createGame, createToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let service: TestService;
let gameId: string;
beforeAll(async () => {
  service = await startTestService();
  gameId = await createGame(service);
});
afterAll(() => service.stop());

const create = (body: unknown, token?: string, game = gameId) =>
  service.call("POST", `/api/games/${game}/leaderboards`, {
    body,
    ...(token === undefined ? {} : { token }),
  });
const count = async () =>
  (await service.database.sql`SELECT 1 FROM leaderboards WHERE game_id = ${gameId}`).length;
const good = { name: "Some Board", sortOrder: 1, displayType: 2 };

describe("POST leaderboard", () => {
  test("201 with every field, and it can be read by id and by name", async () => {
    const sent = { name: "Lap Times", displayName: "Laps 🏁", sortOrder: 0, displayType: 2, visible: false };
    const { status, body } = await create(sent);
    expect(status).toBe(201);
    expect(body).toStrictEqual({
      leaderboard: { ...sent, id: expect.stringMatching(/^lb_[0-9a-z]{26}$/), name: "lap_times" },
    });
    for (const address of [body.leaderboard.id, "by-name/Lap%20Times"]) {
      const read = await service.call("GET", `/api/games/${gameId}/leaderboards/${address}`);
      expect(read.body).toStrictEqual(body);
    }
  });

  test("201 with the defaults: visible, and shown under the name as it was given", async () => {
    const { status, body } = await create({ name: "Most Coins!", sortOrder: 1, displayType: 0 });
    expect(status).toBe(201);
    expect(body.leaderboard).toMatchObject({
      name: "most_coins",
      displayName: "Most Coins!",
      visible: true,
    });
  });

  test("201 for the same name in another game", async () => {
    expect((await create({ ...good, name: "shared" })).status).toBe(201);
    expect((await create({ ...good, name: "shared" }, undefined, await createGame(service))).status).toBe(
      201,
    );
  });

  test("201 with an access token that may write", async () => {
    const token = await createToken(service, gameId, "leaderboards:write");
    expect((await create({ ...good, name: "by-token" }, token)).status).toBe(201);
  });

  test.each(["Taken Name", "taken_name", "TAKEN\tNAME", "taken name?"])(
    "409 for %j, which has the same normalised form",
    async (name) => {
      await create({ ...good, name: "Taken Name" });
      const before = await count();
      const { status, body } = await create({ ...good, name });
      expect(status).toBe(409);
      expect(body).toMatchObject({ code: "conflict", field: "name" });
      expect(await count()).toBe(before);
    },
  );

  test("409 for all but one of many at once", async () => {
    const before = await count();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, number) =>
        create({ ...good, name: number % 2 === 0 ? "Rush Hour" : "rush_hour" }),
      ),
    );
    const statuses = answers.map((answer) => answer.status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 11 }, () => 409)]);
    expect(await count()).toBe(before + 1);
  });

  test.each([
    ["name", undefined],
    ["name", ""],
    ["name", "!!!"],
    ["name", "日本"],
    ["name", "a".repeat(101)],
    ["name", null],
    ["name", 1],
    ["name", "a\u0000b"],
    ["displayName", ""],
    ["displayName", "a".repeat(201)],
    ["displayName", null],
    ["sortOrder", undefined],
    ["sortOrder", 2],
    ["sortOrder", "1"],
    ["sortOrder", null],
    ["displayType", undefined],
    ["displayType", 4],
    ["displayType", 1.5],
    ["visible", "true"],
    ["visible", null],
    ["visible", 1],
  ])("400 when %s is %j", async (field, value) => {
    const before = await count();
    const { status, body } = await create({ ...good, name: "never-made", [field]: value });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "invalid_input", field });
    expect(await count()).toBe(before);
  });

  test("401 without a credential, 403 without the scope, 404 for a game that does not exist", async () => {
    const reader = await createToken(service, gameId, "leaderboards:read");
    const path = `/api/games/${gameId}/leaderboards`;
    expect((await service.call("POST", path, { token: null, body: good })).status).toBe(401);
    expect((await create(good, reader)).status).toBe(403);
    expect((await create(good, undefined, "nobody")).status).toBe(404);
  });

  test("409 past the thousandth board of a game", async () => {
    const full = await createGame(service);
    await service.database.sql`
      INSERT INTO leaderboards
        (game_id, id, name, display_name, sort_order, display_type, visible, created_at)
      SELECT ${full}, 'lb_' || n, 'board-' || n, 'x', 0, 0, true, now() FROM generate_series(1, 999) n`;
    expect((await create({ ...good, name: "the-thousandth" }, undefined, full)).status).toBe(201);
    const { status, body } = await create({ ...good, name: "one-too-many" }, undefined, full);
    expect(status).toBe(409);
    expect(body.code).toBe("conflict");
  });
});
