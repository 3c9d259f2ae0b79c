// POST /api/purchases/{purchaseId}/fulfill, by status.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bought, buy, createPlayerToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const fulfill = (purchaseId: string, body: unknown) =>
  service.call("POST", `/api/purchases/${encodeURIComponent(purchaseId)}/fulfill`, { token: null, body });
const refund = (bought: Bought) =>
  service.call("POST", `/api/games/${bought.gameId}/purchases/${bought.purchaseId}/refund`);

async function refundReceipt(bought: Bought): Promise<string> {
  await refund(bought);
  const { body } = await service.call("GET", `/api/games/${bought.gameId}/events`);
  return body.events.find((event: { event: string }) => event.event === "purchase.refunded").receiptJwt;
}

describe("200", () => {
  test("FULFILLED the first time, ALREADY_FULFILLED afterwards", async () => {
    const { purchaseId, receiptJwt } = await buy(service);
    const first = await fulfill(purchaseId, { receiptJwt });
    expect([first.status, first.body]).toEqual([200, { status: "FULFILLED" }]);
    const second = await fulfill(purchaseId, { receiptJwt });
    expect([second.status, second.body]).toEqual([200, { status: "ALREADY_FULFILLED" }]);
  });

  test("ALREADY_FULFILLED for a durable, whose state does not change", async () => {
    const bought = await buy(service, { type: "DURABLE" });
    const answer = await fulfill(bought.purchaseId, { receiptJwt: bought.receiptJwt });
    expect([answer.status, answer.body]).toEqual([200, { status: "ALREADY_FULFILLED" }]);
    const { body } = await service.call("GET", `/api/games/${bought.gameId}/purchases/${bought.purchaseId}`);
    expect(body.purchase).toMatchObject({ state: "COMPLETED", fulfilledAt: null });
  });

  test("ALREADY_FULFILLED when the game fulfilled it first, and the other way round", async () => {
    const bought = await buy(service);
    const token = await createPlayerToken(service, bought.gameId, bought.userId);
    const mine = `/api/games/${bought.gameId}/me/purchases/${bought.purchaseId}/fulfill`;
    expect((await service.call("POST", mine, { token })).body).toEqual({ status: "FULFILLED" });
    expect((await fulfill(bought.purchaseId, { receiptJwt: bought.receiptJwt })).body).toEqual({
      status: "ALREADY_FULFILLED",
    });
    expect((await service.call("POST", mine, { token })).body).toEqual({ status: "ALREADY_FULFILLED" });
  });

  test("works for PLAYTEST purchases, and ignores an Authorization header", async () => {
    const { purchaseId, receiptJwt } = await buy(service, { env: "PLAYTEST" });
    const answer = await service.call("POST", `/api/purchases/${purchaseId}/fulfill`, {
      token: "not-a-credential",
      body: { receiptJwt },
    });
    expect(answer.body).toEqual({ status: "FULFILLED" });
  });
});

describe("400", () => {
  test.each([
    [{}],
    [{ receiptJwt: null }],
    [{ receiptJwt: 1 }],
    [{ receiptJwt: ["x"] }],
    [[]],
    ["text"],
    [null],
  ])("when the body is %j", async (body) => {
    const answer = await fulfill("pur_x", body);
    expect([answer.status, answer.body.code]).toEqual([400, "invalid_input"]);
  });

  test("when the receipt is for another purchase, whether or not that one exists", async () => {
    const [mine, other] = [await buy(service), await buy(service)];
    for (const purchaseId of [other.purchaseId, "pur_nothing", "%"]) {
      const answer = await fulfill(purchaseId, { receiptJwt: mine.receiptJwt });
      expect([answer.status, answer.body.code, answer.body.field]).toEqual([
        400,
        "invalid_input",
        "receiptJwt",
      ]);
    }
    expect((await fulfill(mine.purchaseId, { receiptJwt: mine.receiptJwt })).body.status).toBe("FULFILLED");
  });
});

describe("401", () => {
  test("when the receipt does not verify, before anything is looked up", async () => {
    const answer = await fulfill("pur_nothing", { receiptJwt: "a.b.c" });
    expect([answer.status, answer.body.code]).toEqual([401, "unauthorized"]);
  });

  test("when it is a refund's receipt, even for another purchase", async () => {
    const bought = await buy(service);
    const receiptJwt = await refundReceipt(bought);
    for (const purchaseId of [bought.purchaseId, "pur_other"]) {
      const answer = await fulfill(purchaseId, { receiptJwt });
      expect([answer.status, answer.body.code]).toEqual([401, "unauthorized"]);
    }
  });
});

describe("404", () => {
  test("with status NOT_FOUND when the purchase was refunded, fulfilled before or not", async () => {
    for (const before of [false, true]) {
      const bought = await buy(service);
      if (before) await fulfill(bought.purchaseId, { receiptJwt: bought.receiptJwt });
      await refund(bought);
      const answer = await fulfill(bought.purchaseId, { receiptJwt: bought.receiptJwt });
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual({ error: expect.any(String), code: "not_found", status: "NOT_FOUND" });
    }
  });

  test("when the receipt verifies but the purchase is gone", async () => {
    const bought = await buy(service);
    const { sql } = service.database;
    await sql`DELETE FROM deliveries WHERE game_id = ${bought.gameId}`;
    await sql`DELETE FROM events WHERE game_id = ${bought.gameId}`;
    await sql`DELETE FROM purchases WHERE game_id = ${bought.gameId}`;
    const answer = await fulfill(bought.purchaseId, { receiptJwt: bought.receiptJwt });
    expect([answer.status, answer.body.status]).toEqual([404, "NOT_FOUND"]);
  });

  test.each([
    ["buyer", "user_id", "somebody-else"],
    ["environment", "env", "PLAYTEST"],
  ])("when the stored purchase has another %s than the receipt", async (_what, column, value) => {
    const bought = await buy(service);
    const { sql } = service.database;
    await sql`UPDATE purchases SET ${sql(column)} = ${value} WHERE purchase_id = ${bought.purchaseId}`;
    const answer = await fulfill(bought.purchaseId, { receiptJwt: bought.receiptJwt });
    expect([answer.status, answer.body.status]).toEqual([404, "NOT_FOUND"]);
  });
});

describe("a path that no purchase can have", () => {
  const at = (path: string, body: unknown) =>
    service.call("POST", `/api/purchases/${path}/fulfill`, { token: null, body });

  test.each(["%00", "x".repeat(2_000), "%F0%9F%92%8E"])(
    "%s: 401 without a receipt that verifies, else 400",
    async (path) => {
      const { receiptJwt } = await buy(service);
      expect((await at(path, { receiptJwt: "a.b.c" })).status).toBe(401);
      expect((await at(path, { receiptJwt })).status).toBe(400);
    },
  );

  test("%00 among a player's own purchases: 404 with status NOT_FOUND", async () => {
    const bought = await buy(service);
    const token = await createPlayerToken(service, bought.gameId, bought.userId);
    const answer = await service.call("POST", `/api/games/${bought.gameId}/me/purchases/%00/fulfill`, {
      token,
    });
    expect([answer.status, answer.body.status]).toEqual([404, "NOT_FOUND"]);
  });
});
