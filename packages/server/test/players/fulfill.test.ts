// POST .../me/purchases/{purchaseId}/fulfill: the game's own fulfil, safe beside the receipt's.
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

const buyOne = (userId = "ann") => buy(service, { gameId, contentIdentifier: consumable, userId });
const fulfill = (purchaseId: string, token: string) =>
  service.call("POST", `/api/games/${gameId}/me/purchases/${purchaseId}/fulfill`, { token });
const fulfillByReceipt = ({ purchaseId, receiptJwt }: Bought) =>
  service.call("POST", `/api/purchases/${purchaseId}/fulfill`, { token: null, body: { receiptJwt } });
const read = async (purchaseId: string) =>
  (await service.call("GET", `/api/games/${gameId}/purchases/${purchaseId}`)).body.purchase;
const refund = (purchaseId: string) =>
  service.call("POST", `/api/games/${gameId}/purchases/${purchaseId}/refund`);

describe("POST me fulfil", () => {
  test("200 FULFILLED, then 200 ALREADY_FULFILLED, and the time of the first stays", async () => {
    const { purchaseId } = await buyOne();
    const token = await createPlayerToken(service, gameId, "ann");
    const first = await fulfill(purchaseId, token);
    expect(first.status).toBe(200);
    expect(first.body).toStrictEqual({ status: "FULFILLED" });
    const { fulfilledAt, state } = await read(purchaseId);
    expect(state).toBe("FULFILLED");
    expect(fulfilledAt).not.toBeNull();
    service.advance(60_000);
    const second = await fulfill(purchaseId, token);
    expect(second.status).toBe(200);
    expect(second.body).toStrictEqual({ status: "ALREADY_FULFILLED" });
    expect((await read(purchaseId)).fulfilledAt).toBe(fulfilledAt);
  });

  test("200 ALREADY_FULFILLED after the backend fulfilled by receipt, and the other way round", async () => {
    const token = await createPlayerToken(service, gameId, "ann");
    const [one, two] = [await buyOne(), await buyOne()];
    expect((await fulfillByReceipt(one)).body.status).toBe("FULFILLED");
    expect((await fulfill(one.purchaseId, token)).body.status).toBe("ALREADY_FULFILLED");
    expect((await fulfill(two.purchaseId, token)).body.status).toBe("FULFILLED");
    expect((await fulfillByReceipt(two)).body.status).toBe("ALREADY_FULFILLED");
  });

  test("200 FULFILLED exactly once when the game and the backend call at the same time", async () => {
    const token = await createPlayerToken(service, gameId, "ann");
    for (let round = 0; round < 5; round++) {
      const bought = await buyOne();
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, number) =>
          number % 2 === 0 ? fulfill(bought.purchaseId, token) : fulfillByReceipt(bought),
        ),
      );
      const statuses = answers.map((answer) => answer.body.status);
      expect(statuses.filter((status) => status === "FULFILLED")).toHaveLength(1);
      expect(statuses.filter((status) => status === "ALREADY_FULFILLED")).toHaveLength(9);
    }
  });

  test("200 ALREADY_FULFILLED for a durable, which stays as it is", async () => {
    const { purchaseId } = await buy(service, { gameId, userId: "ann", type: "DURABLE" });
    const token = await createPlayerToken(service, gameId, "ann");
    const before = await read(purchaseId);
    const answer = await fulfill(purchaseId, token);
    expect(answer.status).toBe(200);
    expect(answer.body).toStrictEqual({ status: "ALREADY_FULFILLED" });
    expect(await read(purchaseId)).toEqual(before);
  });

  test("200 with an empty JSON body as well: the path says it all", async () => {
    const { purchaseId } = await buyOne();
    const path = `/api/games/${gameId}/me/purchases/${purchaseId}/fulfill`;
    const token = await createPlayerToken(service, gameId, "ann");
    expect((await service.call("POST", path, { token, body: {} })).body).toEqual({ status: "FULFILLED" });
  });

  async function expectNotFound(purchaseId: string, token: string): Promise<void> {
    const answer = await fulfill(purchaseId, token);
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ code: "not_found", status: "NOT_FOUND" });
  }

  test("404 NOT_FOUND for another player's purchase, which can still be fulfilled by its buyer", async () => {
    const { purchaseId } = await buyOne("ann");
    await expectNotFound(purchaseId, await createPlayerToken(service, gameId, "bob"));
    expect((await read(purchaseId)).state).toBe("COMPLETED");
    const answer = await fulfill(purchaseId, await createPlayerToken(service, gameId, "ann"));
    expect(answer.body.status).toBe("FULFILLED");
  });

  test("404 NOT_FOUND in the other environment, both ways", async () => {
    const real = await buyOne();
    await expectNotFound(real.purchaseId, await createPlayerToken(service, gameId, "ann", "PLAYTEST"));
    const simulated = await buy(service, { gameId, userId: "ann", env: "PLAYTEST" });
    await expectNotFound(simulated.purchaseId, await createPlayerToken(service, gameId, "ann"));
    const token = await createPlayerToken(service, gameId, "ann", "PLAYTEST");
    expect((await fulfill(simulated.purchaseId, token)).body.status).toBe("FULFILLED");
  });

  test.each(["CONSUMABLE", "DURABLE"] as const)("404 NOT_FOUND for a refunded %s", async (type) => {
    const { purchaseId } = await buy(service, { gameId, userId: "ann", type });
    await refund(purchaseId);
    const token = await createPlayerToken(service, gameId, "ann");
    await expectNotFound(purchaseId, token);
    expect((await read(purchaseId)).state).toBe("REFUNDED");
  });

  test("404 NOT_FOUND for a purchase that was fulfilled and then refunded", async () => {
    const { purchaseId } = await buyOne();
    const token = await createPlayerToken(service, gameId, "ann");
    await fulfill(purchaseId, token);
    await refund(purchaseId);
    await expectNotFound(purchaseId, token);
  });

  test("404 NOT_FOUND for the player's purchase in another game, and for one that never was", async () => {
    const elsewhere = await buy(service, { userId: "ann" });
    const token = await createPlayerToken(service, gameId, "ann");
    await expectNotFound(elsewhere.purchaseId, token);
    await expectNotFound("pur_00000000000000000000000000", token);
    await expectNotFound("anything", token);
  });

  test("404 with one body for another's, a refunded and a missing purchase: none shows that it exists", async () => {
    const token = await createPlayerToken(service, gameId, "ann");
    const [others, refunded] = [await buyOne("bob"), await buyOne("ann")];
    await refund(refunded.purchaseId);
    const bodies = [];
    for (const id of [others.purchaseId, refunded.purchaseId, "pur_none"]) {
      bodies.push(JSON.stringify((await fulfill(id, token)).body));
    }
    expect(new Set(bodies).size).toBe(1);
  });
});
