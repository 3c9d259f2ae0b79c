// From a purchase to a real receiver over TLS, and from several processes at once.
import { expect, test } from "vitest";
import { buy, createContent, createGame } from "../support/seed.ts";
import { startTestService } from "../support/test-service.ts";
import { until } from "./fake-receiver.ts";
import { answer } from "./sending/receiver.ts";
import { testReceiver, testSender } from "./sending/test-sender.ts";

test("a purchase and its refund reach the receiver as the contract says, and its answers are in the log", async () => {
  const receiver = await testReceiver({ behave: answer(200, { "x-backend": "game" }, "thanks") });
  const service = await startTestService({ sender: testSender() });
  const gameId = await createGame(service);
  const url = receiver.url("/webhooks/service?a=b");
  await service.call("PUT", `/api/games/${gameId}/webhooks/PRODUCTION`, { body: { url } });
  const bought = await buy(service, { gameId });
  await until("the purchase", () => receiver.requests.length === 1);
  await service.call("POST", `/api/games/${gameId}/purchases/${bought.purchaseId}/refund`);
  await until("the refund", () => receiver.requests.length === 2);
  const [first, second] = receiver.requests;
  expect(first?.head).toMatch(/^POST \/webhooks\/service\?a=b HTTP\/1\.1\r\n/);
  expect(first?.head).toMatch(/\r\ncontent-type: application\/json\r\n/i);
  expect(first?.head).toMatch(/\r\nuser-agent: Service-Webhooks\/1\r\n/i);
  expect(first?.body).toBe(JSON.stringify({ receiptJwt: bought.receiptJwt }));
  expect(JSON.parse(second?.body ?? "{}").receiptJwt).not.toBe(bought.receiptJwt);
  const list = async () =>
    (await service.call("GET", `/api/games/${gameId}/deliveries?state=DELIVERED`)).body.deliveries;
  await until("both written down", async () => (await list()).length === 2);
  const { body } = await service.call("GET", `/api/games/${gameId}/deliveries/${(await list())[1].id}`);
  expect(body.delivery.attempts[0].response).toMatchObject({ status: 200, body: "thanks", truncated: false });
  expect(body.delivery.attempts[0].response.headers["x-backend"]).toBe("game");
  await service.stop();
});

test("two processes share the work: every event arrives, and each attempt that arrived is in the log", async () => {
  const receiver = await testReceiver({
    // Every fifth request is refused once, and comes again.
    behave: (socket, request) => answer(request.number % 5 === 0 ? 500 : 204)(socket, request),
  });
  const service = await startTestService({ sender: testSender() });
  const { database, masterKey, operatorToken } = service;
  const second = await startTestService({ database, masterKey, operatorToken, sender: testSender() });
  const gameId = await createGame(service);
  await service.call("PUT", `/api/games/${gameId}/webhooks/PRODUCTION`, { body: { url: receiver.url("/") } });
  const contentIdentifier = await createContent(service, gameId, "CONSUMABLE");
  await Promise.all(
    Array.from({ length: 40 }, (_, i) => buy(i % 2 === 0 ? service : second, { gameId, contentIdentifier })),
  );
  const { sql } = database;
  const count = async (state: string) =>
    (await sql`SELECT FROM deliveries WHERE state = ${state} AND (slot > 0 OR state = 'DELIVERED')`).length;
  await until("each was tried", async () => (await count("DELIVERED")) + (await count("PENDING")) === 40);
  for (let round = 0; round < 4; round++) {
    service.advance(40 * 60_000);
    second.advance(40 * 60_000);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
  }
  await until("all delivered", async () => (await count("DELIVERED")) === 40);
  const rows = await sql<{ outcome: string }[]>`SELECT outcome FROM delivery_attempts`;
  expect(rows.every((row) => row.outcome !== null)).toBe(true);
  expect(rows).toHaveLength(receiver.requests.length);
  expect(new Set(receiver.requests.map((request) => request.body)).size).toBe(40);
  await second.stop();
  await service.stop();
});
