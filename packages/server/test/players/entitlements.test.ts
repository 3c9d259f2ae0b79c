// GET .../me/entitlements: the durables that a player owns.
import type { Env } from "@coinslot/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buy, createContent, createGame, createPlayerToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let service: TestService;
let gameId: string;
beforeAll(async () => {
  service = await startTestService();
  gameId = await createGame(service);
});
afterAll(() => service.stop());

const me = `/me/entitlements`;
/** What both ways of asking say: the single check, and whether the list holds it. */
async function owns(userId: string, contentIdentifier: string, env: Env = "PRODUCTION"): Promise<boolean> {
  const token = await createPlayerToken(service, gameId, userId, env);
  const one = await service.call("GET", `/api/games/${gameId}${me}/${contentIdentifier}`, { token });
  expect(one.status).toBe(200);
  expect(Object.keys(one.body)).toEqual(["entitled"]);
  const list = await service.call("GET", `/api/games/${gameId}${me}`, { token });
  const listed = list.body.entitlements.filter(
    (item: { contentIdentifier: string }) => item.contentIdentifier === contentIdentifier,
  );
  expect(listed.length).toBe(one.body.entitled ? 1 : 0);
  return one.body.entitled;
}
const refund = (purchaseId: string) =>
  service.call("POST", `/api/games/${gameId}/purchases/${purchaseId}/refund`);

describe("GET entitlement", () => {
  test("true for a durable that was bought, false before", async () => {
    const contentIdentifier = await createContent(service, gameId, "DURABLE");
    expect(await owns("ann", contentIdentifier)).toBe(false);
    await buy(service, { gameId, userId: "ann", contentIdentifier });
    expect(await owns("ann", contentIdentifier)).toBe(true);
  });

  test("false after a refund", async () => {
    const bought = await buy(service, { gameId, userId: "ann", type: "DURABLE" });
    await refund(bought.purchaseId);
    expect(await owns("ann", bought.contentIdentifier)).toBe(false);
  });

  test("true when bought twice and refunded once; false when both are refunded; true when bought again", async () => {
    const one = await buy(service, { gameId, userId: "ann", type: "DURABLE" });
    const { contentIdentifier } = one;
    const two = await buy(service, { gameId, userId: "ann", contentIdentifier });
    await refund(one.purchaseId);
    expect(await owns("ann", contentIdentifier)).toBe(true);
    await refund(two.purchaseId);
    expect(await owns("ann", contentIdentifier)).toBe(false);
    await buy(service, { gameId, userId: "ann", contentIdentifier });
    expect(await owns("ann", contentIdentifier)).toBe(true);
  });

  test.each([
    ["PRODUCTION", "PLAYTEST"],
    ["PLAYTEST", "PRODUCTION"],
  ] as const)("bought in %s it is not owned in %s", async (env, other) => {
    const bought = await buy(service, { gameId, userId: "ann", type: "DURABLE", env });
    expect(await owns("ann", bought.contentIdentifier, env)).toBe(true);
    expect(await owns("ann", bought.contentIdentifier, other)).toBe(false);
  });

  test("false for a consumable, fulfilled or not", async () => {
    const bought = await buy(service, { gameId, userId: "ann" });
    expect(await owns("ann", bought.contentIdentifier)).toBe(false);
    const { receiptJwt } = bought;
    const path = `/api/purchases/${bought.purchaseId}/fulfill`;
    expect((await service.call("POST", path, { token: null, body: { receiptJwt } })).status).toBe(200);
    expect(await owns("ann", bought.contentIdentifier)).toBe(false);
  });

  test("true for a durable whose receipt was offered to fulfil: it changes nothing", async () => {
    const bought = await buy(service, { gameId, userId: "ann", type: "DURABLE" });
    const { receiptJwt } = bought;
    const path = `/api/purchases/${bought.purchaseId}/fulfill`;
    const answer = await service.call("POST", path, { token: null, body: { receiptJwt } });
    expect(answer.body).toEqual({ status: "ALREADY_FULFILLED" });
    expect(await owns("ann", bought.contentIdentifier)).toBe(true);
  });

  test("false for another player, and for the same content of another game", async () => {
    const bought = await buy(service, { gameId, userId: "ann", type: "DURABLE" });
    expect(await owns("bob", bought.contentIdentifier)).toBe(false);
    expect(await owns("Ann", bought.contentIdentifier)).toBe(false);
    const other = await createGame(service);
    const elsewhere = await buy(service, { gameId: other, userId: "ann", type: "DURABLE" });
    expect(await owns("ann", elsewhere.contentIdentifier)).toBe(false);
  });

  test("false for content that does not exist", async () => {
    expect(await owns("ann", "no-such-content")).toBe(false);
  });
});

describe("GET entitlements", () => {
  test("200 with each durable once, its title and files as they are now, since its first good purchase", async () => {
    const userId = "collector";
    const first = await buy(service, { gameId, userId, type: "DURABLE" });
    const { contentIdentifier } = first;
    service.advance(1_000);
    await buy(service, { gameId, userId, contentIdentifier });
    const refunded = await buy(service, { gameId, userId, type: "DURABLE" });
    await refund(refunded.purchaseId);
    await buy(service, { gameId, userId });
    const second = await buy(service, { gameId, userId, type: "DURABLE" });
    await service.call("PATCH", `/api/games/${gameId}/contents/${contentIdentifier}`, {
      body: { title: "Renamed", files: ["new.pak"] },
    });

    const token = await createPlayerToken(service, gameId, userId);
    const { status, body } = await service.call("GET", `/api/games/${gameId}${me}`, { token });
    const purchase = await service.call("GET", `/api/games/${gameId}/purchases/${first.purchaseId}`);
    expect(status).toBe(200);
    expect(body.nextCursor).toBeNull();
    expect(body.entitlements).toHaveLength(2);
    expect(body.entitlements).toContainEqual({
      contentIdentifier,
      title: "Renamed",
      files: ["new.pak"],
      purchasedAt: purchase.body.purchase.purchasedAt,
    });
    expect(body.entitlements).toContainEqual(
      expect.objectContaining({ contentIdentifier: second.contentIdentifier, files: [] }),
    );
  });

  test("200 and an empty list for a player who bought nothing", async () => {
    const token = await createPlayerToken(service, gameId, "nobody-yet");
    const { body } = await service.call("GET", `/api/games/${gameId}${me}`, { token });
    expect(body).toEqual({ entitlements: [], nextCursor: null });
  });
});
