// Recording and refunding purchases, by status, and what they leave behind.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buy, createContent, createGame, createToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let service: TestService;
let gameId: string;
let gems: string;
beforeAll(async () => {
  service = await startTestService();
  gameId = await createGame(service);
  gems = await createContent(service, gameId, "CONSUMABLE");
});
afterAll(() => service.stop());

const post = (body: unknown, headers = {}) =>
  service.call("POST", `/api/games/${gameId}/purchases`, { body, headers });

describe("POST purchases", () => {
  test("201 with the purchase and its receipt", async () => {
    const answer = await post({
      userId: "ann",
      contentIdentifier: gems,
      env: "PRODUCTION",
      source: "PAYWALL",
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      purchase: {
        purchaseId: expect.stringMatching(/^pur_/),
        userId: "ann",
        contentIdentifier: gems,
        type: "CONSUMABLE",
        env: "PRODUCTION",
        source: "PAYWALL",
        state: "COMPLETED",
        purchasedAt: expect.any(String),
        fulfilledAt: null,
        refundedAt: null,
      },
      receiptJwt: expect.stringMatching(/^eyJ/),
    });
  });

  test("201 for a user whose name has every character that SQL arrays give a meaning to", async () => {
    const userId = 'a"b\\c{d}e,f NULL';
    const { body } = await post({ userId, contentIdentifier: gems, env: "PLAYTEST" });
    const { body: read } = await service.call(
      "GET",
      `/api/games/${gameId}/purchases/${body.purchase.purchaseId}`,
    );
    expect(read.purchase.userId).toBe(userId);
  });

  test.each([
    ["no user", { contentIdentifier: "x", env: "PRODUCTION" }, "userId"],
    ["an empty user", { userId: "", contentIdentifier: "x", env: "PRODUCTION" }, "userId"],
    ["no environment", { userId: "ann", contentIdentifier: "x" }, "env"],
    ["another environment", { userId: "ann", contentIdentifier: "x", env: "TEST" }, "env"],
    ["another source", { userId: "ann", contentIdentifier: "x", env: "PLAYTEST", source: "GIFT" }, "source"],
    [
      "content that is not sold",
      { userId: "ann", contentIdentifier: "none", env: "PLAYTEST" },
      "contentIdentifier",
    ],
  ])("400 with %s", async (_what, body, field) => {
    const answer = await post(body);
    expect([answer.status, answer.body.code, answer.body.field]).toEqual([400, "invalid_input", field]);
  });

  test("403 for an access token, whatever its scopes", async () => {
    const token = await createToken(service, gameId, "purchases:read", "catalog:write", "webhooks:write");
    const body = { userId: "ann", contentIdentifier: gems, env: "PLAYTEST" };
    expect((await service.call("POST", `/api/games/${gameId}/purchases`, { token, body })).status).toBe(403);
  });

  test("404 for a game that does not exist", async () => {
    const body = { userId: "ann", contentIdentifier: gems, env: "PLAYTEST" };
    expect((await service.call("POST", "/api/games/none/purchases", { body })).status).toBe(404);
  });

  test("a crowd of purchases at once: each has one event and one delivery, positions are distinct", async () => {
    const crowd = await createGame(service);
    const contentIdentifier = await createContent(service, crowd, "CONSUMABLE");
    const bought = await Promise.all(
      Array.from({ length: 150 }, (_, i) =>
        buy(service, { gameId: crowd, contentIdentifier, userId: `u${i}` }),
      ),
    );
    expect(new Set(bought.map((item) => item.purchaseId)).size).toBe(150);
    const rows = await service.database.sql<{ purchaseId: string; deliveries: number }[]>`
      SELECT e.purchase_id, count(d.id)::int AS deliveries FROM events e
      LEFT JOIN deliveries d ON d.game_id = e.game_id AND d.event_position = e.position
      WHERE e.game_id = ${crowd} GROUP BY e.purchase_id`;
    expect(rows).toHaveLength(150);
    expect(rows.every((row) => row.deliveries === 1)).toBe(true);
  });

  test("the same Idempotency-Key at once, fifty times, sells once", async () => {
    const body = { userId: "bob", contentIdentifier: gems, env: "PRODUCTION" };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => post(body, { "idempotency-key": "pay-1" })),
    );
    expect(new Set(answers.map((answer) => JSON.stringify([answer.status, answer.body]))).size).toBe(1);
    const [row] = await service.database.sql<[{ count: number }]>`
      SELECT count(*)::int AS count FROM purchases WHERE game_id = ${gameId} AND user_id = 'bob'`;
    expect(row.count).toBe(1);
    const other = await post({ ...body, env: "PLAYTEST" }, { "idempotency-key": "pay-1" });
    expect([other.status, other.body.code]).toEqual([409, "conflict"]);
  });
});

describe("POST refund", () => {
  const refund = (purchaseId: string, body?: unknown) =>
    service.call("POST", `/api/games/${gameId}/purchases/${purchaseId}/refund`, { body });

  test("200, and 200 again with nothing changed", async () => {
    const { purchaseId } = await buy(service, { gameId, contentIdentifier: gems });
    const first = await refund(purchaseId, { reason: "a mistake" });
    expect(first.body.purchase).toMatchObject({ state: "REFUNDED", refundedAt: expect.any(String) });
    service.advance(1_000);
    const second = await refund(purchaseId, { reason: "another reason" });
    expect(second.body).toEqual(first.body);
    const { body } = await service.call("GET", `/api/games/${gameId}/purchases/${purchaseId}`);
    const kinds = body.purchase.timeline.map((entry: { kind: string }) => entry.kind);
    expect(kinds).toEqual(["PURCHASED", "DELIVERY_CREATED", "REFUNDED", "DELIVERY_CREATED"]);
    expect(body.purchase.timeline[0].detail).toEqual({ source: "STORE_PAGE", amount: 499, currency: "EUR" });
    expect(body.purchase.timeline[2].detail).toEqual({ reason: "a mistake" });
  });

  test("fifty at once refund once", async () => {
    const { purchaseId } = await buy(service, { gameId, contentIdentifier: gems });
    const answers = await Promise.all(Array.from({ length: 50 }, () => refund(purchaseId)));
    expect(new Set(answers.map((answer) => JSON.stringify([answer.status, answer.body]))).size).toBe(1);
    const events = await service.database
      .sql`SELECT event FROM events WHERE purchase_id = ${purchaseId} ORDER BY position`;
    expect(events.map((row) => row["event"])).toEqual(["purchase.completed", "purchase.refunded"]);
  });

  test("404 for a purchase of another game", async () => {
    const elsewhere = await buy(service);
    const answer = await refund(elsewhere.purchaseId);
    expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
  });

  test("400 for a reason that is too long", async () => {
    const { purchaseId } = await buy(service, { gameId, contentIdentifier: gems });
    expect((await refund(purchaseId, { reason: "x".repeat(501) })).body.field).toBe("reason");
  });
});

describe("GET purchases", () => {
  test("200, newest first, a page at a time, by user, content, environment and state", async () => {
    const game = await createGame(service);
    const contentIdentifier = await createContent(service, game, "CONSUMABLE");
    const ids: string[] = [];
    for (let i = 0; i < 7; i++) {
      const env = i % 2 === 0 ? "PRODUCTION" : "PLAYTEST";
      ids.push(
        (await buy(service, { gameId: game, contentIdentifier, userId: `u${i % 3}`, env })).purchaseId,
      );
      // Ids are made in the order of time, a millisecond at a time.
      service.advance(1);
    }
    ids.reverse();
    const list = (query: string) => service.call("GET", `/api/games/${game}/purchases?${query}`);
    const seen: string[] = [];
    let cursor = "";
    do {
      const { body } = await list(`limit=3${cursor === "" ? "" : `&cursor=${cursor}`}`);
      seen.push(...body.purchases.map((purchase: { purchaseId: string }) => purchase.purchaseId));
      cursor = body.nextCursor ?? "";
    } while (cursor !== "");
    expect(seen).toEqual(ids);
    expect((await list("userId=u0")).body.purchases).toHaveLength(3);
    expect((await list("env=PLAYTEST")).body.purchases).toHaveLength(3);
    expect((await list("state=FULFILLED")).body.purchases).toHaveLength(0);
    expect((await list("contentIdentifier=other")).body.purchases).toHaveLength(0);
    expect((await list("limit=0")).status).toBe(400);
    expect((await list("limit=1&limit=2")).status).toBe(400);
    expect((await list("cursor=%00")).body.field).toBe("cursor");
  });
});
