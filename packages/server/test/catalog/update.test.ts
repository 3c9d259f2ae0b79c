// PATCH .../contents/{contentIdentifier}: title, price and files change; the identifier and the type never do.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buy, createContent, createGame, createPlayerToken, createToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let service: TestService;
let gameId: string;
beforeAll(async () => {
  service = await startTestService();
  gameId = await createGame(service);
});
afterAll(() => service.stop());

const address = (id: string, game = gameId) => `/api/games/${game}/contents/${id}`;
const patch = (id: string, body: unknown, game?: string) =>
  service.call("PATCH", address(id, game), { body });
const read = async (id: string, game?: string) => (await service.call("GET", address(id, game))).body.content;

describe("PATCH content", () => {
  test.each([
    ["title", { title: "New title" }],
    ["price", { price: { amount: 0, currency: "USD" } }],
    ["files", { files: ["new.pak"] }],
    ["files, to none", { files: [] }],
    ["all three", { title: "T", price: { amount: 1, currency: "GBP" }, files: ["x", "y"] }],
  ])("200 for %s, and nothing else changes", async (_what, body) => {
    const id = await createContent(service, gameId, "DURABLE");
    await patch(id, { files: ["old.pak"] });
    const before = await read(id);
    service.advance(1_000);
    const answer = await patch(id, body);
    expect(answer.status).toBe(200);
    expect(answer.body).toStrictEqual({ content: { ...before, ...body, updatedAt: expect.any(String) } });
    expect(Date.parse(answer.body.content.updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
    expect(await read(id)).toStrictEqual(answer.body.content);
  });

  test("200, and type and identifier are ignored like any unknown field", async () => {
    const id = await createContent(service, gameId, "DURABLE");
    const { status, body } = await patch(id, { title: "T", type: "CONSUMABLE", contentIdentifier: "other" });
    expect(status).toBe(200);
    expect(body.content).toMatchObject({ title: "T", type: "DURABLE", contentIdentifier: id });
  });

  test("200 at once on different fields: both take effect", async () => {
    const id = await createContent(service, gameId, "DURABLE");
    const price = { amount: 7, currency: "CHF" };
    await Promise.all([patch(id, { title: "Both" }), patch(id, { price }), patch(id, { files: ["f"] })]);
    expect(await read(id)).toMatchObject({ title: "Both", price, files: ["f"] });
  });

  test.each([
    ["title", ""],
    ["title", null],
    ["title", "a".repeat(201)],
    ["price", null],
    ["price", 1],
    ["price.currency", { amount: 1 }],
    ["price.amount", { amount: 1.5, currency: "EUR" }],
    ["files", null],
    ["files", "a"],
    ["files.0", [""]],
  ])("400 when %s is wrong: %j, and nothing changes", async (field, value) => {
    const id = await createContent(service, gameId, "DURABLE");
    const before = await read(id);
    const { status, body } = await patch(id, {
      title: "New",
      files: ["new"],
      [field.split(".")[0] ?? ""]: value,
    });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "invalid_input", field });
    expect(await read(id)).toEqual(before);
  });

  test.each([[{}], [{ colour: "red" }], [{ type: "DURABLE" }]])(
    "400 for a body with no known field: %j",
    async (body) => {
      const id = await createContent(service, gameId, "DURABLE");
      const answer = await patch(id, body);
      expect(answer.status).toBe(400);
      expect(answer.body.code).toBe("invalid_input");
    },
  );

  test("400 for files on a consumable, and the title sent with them stays too; no files are fine", async () => {
    const id = await createContent(service, gameId, "CONSUMABLE");
    const before = await read(id);
    const { status, body } = await patch(id, { title: "New", files: ["a.pak"] });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "invalid_input", field: "files" });
    expect(await read(id)).toEqual(before);
    expect((await patch(id, { title: "New", files: [] })).status).toBe(200);
  });

  test("404 for an item that does not exist, of another game, or of no game", async () => {
    const other = await createGame(service);
    const id = await createContent(service, other, "DURABLE");
    expect((await patch("none", { title: "x" })).status).toBe(404);
    expect((await patch(id, { title: "x" })).status).toBe(404);
    expect((await patch(id, { title: "x" }, "nobody")).status).toBe(404);
    expect((await read(id, other)).title).toBe("Something");
  });

  test("400 for a bad body comes before 404", async () => {
    expect((await patch("none", { title: "" })).status).toBe(400);
  });

  test("200 for catalog:write; 403 for other scopes and players", async () => {
    const id = await createContent(service, gameId, "DURABLE");
    const callers: [string, number][] = [
      [await createToken(service, gameId, "catalog:write"), 200],
      [await createToken(service, gameId, "leaderboards:write"), 403],
      [await createPlayerToken(service, gameId, "ann"), 403],
    ];
    for (const [token, status] of callers) {
      const answer = await service.call("PATCH", address(id), { token, body: { title: "x" } });
      expect(answer.status).toBe(status);
    }
  });

  test("a purchase keeps the price that was paid when the price changes later", async () => {
    const bought = await buy(service, { gameId });
    await patch(bought.contentIdentifier, { price: { amount: 9_999, currency: "USD" } });
    const [row] = await service.database.sql<{ priceAmount: number; priceCurrency: string }[]>`
      SELECT price_amount, price_currency FROM purchases WHERE purchase_id = ${bought.purchaseId}`;
    expect(row).toEqual({ priceAmount: 499, priceCurrency: "EUR" });
  });
});
