// POST and GET .../contents: what a game sells.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createGame, createPlayerToken, createToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let service: TestService;
let gameId: string;
beforeAll(async () => {
  service = await startTestService();
  gameId = await createGame(service);
});
afterAll(() => service.stop());

const path = (game = gameId) => `/api/games/${game}/contents`;
const create = (body: unknown, game?: string) => service.call("POST", path(game), { body });
let count = 0;
const durable = () => ({
  contentIdentifier: `map-${++count}`,
  type: "DURABLE",
  title: "The lost map",
  price: { amount: 499, currency: "EUR" },
  files: ["maps/lost.pak", "maps/été.pak"],
});
const consumable = () => ({ ...durable(), type: "CONSUMABLE", files: undefined });

describe("POST content", () => {
  test("201 for a durable with its files, and it reads back the same", async () => {
    const sent = durable();
    const { status, body } = await create(sent);
    expect(status).toBe(201);
    expect(body).toStrictEqual({
      content: { ...sent, createdAt: expect.any(String), updatedAt: body.content.createdAt },
    });
    const read = await service.call("GET", `${path()}/${sent.contentIdentifier}`);
    expect(read.status).toBe(200);
    expect(read.body).toStrictEqual(body);
  });

  test("201 for a consumable, without files", async () => {
    const { status, body } = await create(consumable());
    expect(status).toBe(201);
    expect(body.content).toMatchObject({ type: "CONSUMABLE", files: [] });
  });

  test.each(["a", "0", "com.studio:coins_100-x", "A".repeat(128)])(
    "201 with the identifier %s",
    async (id) => {
      const { status, body } = await create({ ...consumable(), contentIdentifier: id });
      expect(status).toBe(201);
      expect(body.content.contentIdentifier).toBe(id);
    },
  );

  test.each([
    ["nothing", 0],
    ["a million", 100_000_000],
  ])("201 with a price of %s", async (_what, amount) => {
    const { body } = await create({ ...consumable(), price: { amount, currency: "JPY" } });
    expect(body.content.price).toEqual({ amount, currency: "JPY" });
  });

  test("409 for an identifier that is taken, and the first stays as it is", async () => {
    const first = durable();
    await create(first);
    const { status, body } = await create({ ...first, title: "Other" });
    expect(status).toBe(409);
    expect(body).toMatchObject({ code: "conflict", field: "contentIdentifier" });
    const read = await service.call("GET", `${path()}/${first.contentIdentifier}`);
    expect(read.body.content.title).toBe(first.title);
  });

  test("201 for the same identifier in another game", async () => {
    const first = durable();
    await create(first);
    expect((await create(first, await createGame(service))).status).toBe(201);
  });

  test.each([
    ["contentIdentifier", undefined],
    ["contentIdentifier", ""],
    ["contentIdentifier", "-a"],
    ["contentIdentifier", "a b"],
    ["contentIdentifier", "a/b"],
    ["contentIdentifier", "é"],
    ["contentIdentifier", "a".repeat(129)],
    ["contentIdentifier", 7],
    ["type", undefined],
    ["type", "durable"],
    ["type", "GIFT"],
    ["type", null],
    ["title", undefined],
    ["title", ""],
    ["title", "a".repeat(201)],
    ["title", "a\tb"],
    ["title", "\ud800"],
    ["price", undefined],
    ["price", 499],
    ["price", null],
    ["price.amount", { currency: "EUR" }],
    ["price.amount", { amount: -1, currency: "EUR" }],
    ["price.amount", { amount: 4.99, currency: "EUR" }],
    ["price.amount", { amount: "499", currency: "EUR" }],
    ["price.amount", { amount: 100_000_001, currency: "EUR" }],
    ["price.currency", { amount: 1 }],
    ["price.currency", { amount: 1, currency: "eur" }],
    ["price.currency", { amount: 1, currency: "EURO" }],
    ["files", "a.pak"],
    ["files", null],
    ["files", Array.from({ length: 201 }, () => "a")],
    ["files.1", ["a", ""]],
    ["files.0", ["a".repeat(501)]],
    ["files.0", [1]],
  ])("400 when %s is wrong: %j", async (field, value) => {
    const rows = () => service.database.sql`SELECT 1 FROM contents`;
    const before = (await rows()).length;
    const { status, body } = await create({ ...durable(), [field.split(".")[0] ?? ""]: value });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "invalid_input", field });
    expect((await rows()).length).toBe(before);
  });

  test("400 for a consumable with files: only a durable unlocks any", async () => {
    const { status, body } = await create({ ...consumable(), files: ["a.pak"] });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "invalid_input", field: "files" });
  });

  test("404 for a game that does not exist", async () => {
    expect((await create(durable(), "nobody")).status).toBe(404);
  });
});

describe("GET contents", () => {
  test("200 in pages, every item once and of this game alone", async () => {
    const own = await createGame(service);
    const sent = [];
    for (let i = 0; i < 5; i++) {
      const item = durable();
      sent.push(item.contentIdentifier);
      await create(item, own);
    }
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? "" : `&cursor=${cursor}`;
      const { body } = await service.call("GET", `${path(own)}?limit=2${query}`);
      expect(body.contents.length).toBeLessThanOrEqual(2);
      seen.push(...body.contents.map((item: { contentIdentifier: string }) => item.contentIdentifier));
      cursor = body.nextCursor;
    } while (cursor !== null);
    expect(seen.sort()).toEqual(sent.sort());
  });

  test("200 past an item with the longest identifier: its cursor is good", async () => {
    const own = await createGame(service);
    for (const end of ["x", "y"])
      await create({ ...durable(), contentIdentifier: "a".repeat(127) + end }, own);
    const first = await service.call("GET", `${path(own)}?limit=1`);
    const second = await service.call("GET", `${path(own)}?limit=1&cursor=${first.body.nextCursor}`);
    expect(second.status).toBe(200);
    expect(second.body.contents[0].contentIdentifier).toBe(`${"a".repeat(127)}y`);
    expect(second.body.nextCursor).toBeNull();
  });

  test.each(["?limit=0", "?limit=999", "?cursor=%20", "?cursor=AA"])("400 for %s", async (query) => {
    expect((await service.call("GET", path() + query)).status).toBe(400);
  });

  test("404 for an item of another game and one that does not exist", async () => {
    const item = durable();
    await create(item, await createGame(service));
    for (const id of [item.contentIdentifier, "none", "%00"]) {
      const { status, body } = await service.call("GET", `${path()}/${id}`);
      expect(status).toBe(404);
      expect(body.code).toBe("not_found");
    }
  });
});

describe("who may", () => {
  test("catalog:write reads and writes; a player reads; others are refused", async () => {
    const item = durable();
    const writer = await createToken(service, gameId, "catalog:write");
    const player = await createPlayerToken(service, gameId, "ann");
    const stranger = await createPlayerToken(service, await createGame(service), "ann");
    const post = async (token: string) => (await service.call("POST", path(), { token, body: item })).status;
    const get = async (token: string) =>
      (await service.call("GET", `${path()}/${item.contentIdentifier}`, { token })).status;
    expect(await post(player)).toBe(403);
    expect(await post(stranger)).toBe(403);
    expect(await post(writer)).toBe(201);
    expect(await get(writer)).toBe(200);
    expect(await get(player)).toBe(200);
    expect(await get(stranger)).toBe(403);
    expect((await service.call("GET", path(), { token: player })).status).toBe(200);
    expect((await service.call("GET", path(), { token: null })).status).toBe(401);
  });
});
