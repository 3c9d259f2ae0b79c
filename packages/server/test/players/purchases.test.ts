// GET .../me/purchases: what the game delivers at launch, until it is fulfilled.
import type { Env } from "@coinslot/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bought, buy, createContent, createGame, createPlayerToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let service: TestService;
let gameId: string;
let consumable: string;
beforeAll(async () => {
  service = await startTestService();
  gameId = await createGame(service);
  consumable = await createContent(service, gameId, "CONSUMABLE");
});
afterAll(() => service.stop());

let players = 0;
const newPlayer = () => `player ${++players}`;

async function list(userId: string, query = "?fulfilled=false", env: Env = "PRODUCTION") {
  const token = await createPlayerToken(service, gameId, userId, env);
  return service.call("GET", `/api/games/${gameId}/me/purchases${query}`, { token });
}
async function ids(userId: string, query?: string, env?: Env): Promise<string[]> {
  const { status, body } = await list(userId, query, env);
  expect(status).toBe(200);
  return body.purchases.map((purchase: { purchaseId: string }) => purchase.purchaseId);
}
/** Buys, and lets a moment pass: the order of purchases is that of their times. */
async function buyOne(userId: string, env: Env = "PRODUCTION"): Promise<Bought> {
  const bought = await buy(service, { gameId, contentIdentifier: consumable, userId, env });
  service.advance(5);
  return bought;
}
const refund = (purchaseId: string) =>
  service.call("POST", `/api/games/${gameId}/purchases/${purchaseId}/refund`);
const fulfillByReceipt = ({ purchaseId, receiptJwt }: Bought) =>
  service.call("POST", `/api/purchases/${purchaseId}/fulfill`, { token: null, body: { receiptJwt } });

describe("GET me/purchases?fulfilled=false", () => {
  test("200 with the purchase and its receipt, the same bytes as at the purchase", async () => {
    const userId = newPlayer();
    const bought = await buyOne(userId);
    const { status, body } = await list(userId);
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      purchases: [
        {
          purchaseId: bought.purchaseId,
          userId,
          contentIdentifier: consumable,
          type: "CONSUMABLE",
          env: "PRODUCTION",
          source: "STORE_PAGE",
          state: "COMPLETED",
          purchasedAt: expect.any(String),
          fulfilledAt: null,
          refundedAt: null,
          receiptJwt: bought.receiptJwt,
        },
      ],
      nextCursor: null,
    });
  });

  test("200 oldest first, in pages, every purchase once with its own receipt", async () => {
    const userId = newPlayer();
    const bought: Bought[] = [];
    for (let i = 0; i < 5; i++) bought.push(await buyOne(userId));
    const seen: { purchaseId: string; receiptJwt: string }[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const query: string = cursor === null ? "" : `&cursor=${cursor}`;
      const { body } = await list(userId, `?fulfilled=false&limit=2${query}`);
      seen.push(...body.purchases);
      cursor = body.nextCursor;
      pages++;
    } while (cursor !== null);
    expect(pages).toBe(3);
    expect(seen.map((one) => [one.purchaseId, one.receiptJwt])).toEqual(
      bought.map((one) => [one.purchaseId, one.receiptJwt]),
    );
  });

  test("200 on the next page even when the cursor's own purchase was fulfilled meanwhile", async () => {
    const userId = newPlayer();
    const bought = [await buyOne(userId), await buyOne(userId), await buyOne(userId)];
    const first = await list(userId, "?fulfilled=false&limit=2");
    for (const one of bought.slice(0, 2)) await fulfillByReceipt(one);
    const next = await list(userId, `?fulfilled=false&limit=2&cursor=${first.body.nextCursor}`);
    expect(next.body.purchases.map((one: Bought) => one.purchaseId)).toEqual([bought[2]?.purchaseId]);
  });

  test("a purchase vanishes when it is fulfilled by its receipt, and the others stay", async () => {
    const userId = newPlayer();
    const [one, two] = [await buyOne(userId), await buyOne(userId)];
    expect((await fulfillByReceipt(one)).body).toEqual({ status: "FULFILLED" });
    expect(await ids(userId)).toEqual([two.purchaseId]);
  });

  test("a purchase vanishes when the player fulfils it", async () => {
    const userId = newPlayer();
    const [one, two] = [await buyOne(userId), await buyOne(userId)];
    const token = await createPlayerToken(service, gameId, userId);
    const path = `/api/games/${gameId}/me/purchases/${two.purchaseId}/fulfill`;
    expect((await service.call("POST", path, { token })).body).toEqual({ status: "FULFILLED" });
    expect(await ids(userId)).toEqual([one.purchaseId]);
  });

  test("a purchase vanishes when it is refunded", async () => {
    const userId = newPlayer();
    const [one, two] = [await buyOne(userId), await buyOne(userId)];
    await refund(one.purchaseId);
    expect(await ids(userId)).toEqual([two.purchaseId]);
  });

  test("durables are not in it: there is nothing to fulfil", async () => {
    const userId = newPlayer();
    await buy(service, { gameId, userId, type: "DURABLE" });
    expect(await ids(userId)).toEqual([]);
  });

  test("another environment, another player and another game are not in it", async () => {
    const userId = newPlayer();
    const real = await buyOne(userId);
    const simulated = await buyOne(userId, "PLAYTEST");
    await buyOne(newPlayer());
    await buy(service, { userId });
    expect(await ids(userId)).toEqual([real.purchaseId]);
    expect(await ids(userId, "?fulfilled=false", "PLAYTEST")).toEqual([simulated.purchaseId]);
  });
});

describe("GET me/purchases otherwise", () => {
  test("fulfilled=true: the consumables that were fulfilled; without it: all but refunded ones", async () => {
    const userId = newPlayer();
    const [done, open, gone] = [await buyOne(userId), await buyOne(userId), await buyOne(userId)];
    const durable = await buy(service, { gameId, userId, type: "DURABLE" });
    await fulfillByReceipt(done);
    await fulfillByReceipt(gone);
    await refund(gone.purchaseId);
    expect(await ids(userId, "?fulfilled=true")).toEqual([done.purchaseId]);
    expect(await ids(userId, "")).toEqual([done.purchaseId, open.purchaseId, durable.purchaseId]);
  });

  test.each([
    ["fulfilled", "?fulfilled=no"],
    ["fulfilled", "?fulfilled="],
    ["fulfilled", "?fulfilled=false&fulfilled=true"],
    ["limit", "?limit=0"],
    ["limit", "?limit=201"],
    ["cursor", "?cursor=x"],
    ["cursor", "?cursor=cHVyXzE"],
  ])("400 naming %s for %s", async (field, query) => {
    const { status, body } = await list(newPlayer(), query);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "invalid_input", field });
  });
});
