// The dispatcher on the real database: what is sent when, what is written down, and who may write it.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { claimDeliveries } from "../../src/webhooks/claim-deliveries.ts";
import { recordResults } from "../../src/webhooks/record-results.ts";
import { buy, createGame } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { answered, type Behaviour, createFakeSender, failed, until } from "./fake-receiver.ts";

let service: TestService;
let behaviour: Behaviour;
let sender: ReturnType<typeof createFakeSender>;
beforeEach(async () => {
  behaviour = () => answered(200);
  sender = createFakeSender((sent, nth) => behaviour(sent, nth));
  service = await startTestService({ sender });
});
afterEach(() => service.stop());

const url = "https://game.example/webhooks";
async function createGameWithWebhook(at: string = url): Promise<string> {
  const gameId = await createGame(service);
  await service.call("PUT", `/api/games/${gameId}/webhooks/PRODUCTION`, { body: { url: at } });
  return gameId;
}

interface SeenDelivery {
  readonly id: string;
  readonly state: string;
  readonly attemptCount: number;
  readonly nextAttemptAt: string | null;
  readonly deliveredAt: string | null;
  readonly attempts: { number: number; trigger: string; outcome: string | null; error: string | null }[];
}
async function deliveriesOf(gameId: string): Promise<SeenDelivery[]> {
  const { body } = await service.call("GET", `/api/games/${gameId}/deliveries`);
  return Promise.all(
    body.deliveries.map(
      async ({ id }: { id: string }) =>
        (await service.call("GET", `/api/games/${gameId}/deliveries/${id}`)).body.delivery,
    ),
  );
}
async function onlyDelivery(gameId: string): Promise<SeenDelivery> {
  const [delivery] = await deliveriesOf(gameId);
  if (delivery === undefined) throw new Error("no delivery");
  return delivery;
}

describe("a receiver that takes it", () => {
  test("gets the receipt at once, and the delivery is DELIVERED with the whole exchange in its log", async () => {
    const gameId = await createGameWithWebhook();
    const { receiptJwt, purchaseId } = await buy(service, { gameId });
    await until("delivered", async () => (await onlyDelivery(gameId)).state === "DELIVERED");
    expect(sender.sent).toEqual([{ url, receiptJwt }]);
    const { body } = await service.call(
      "GET",
      `/api/games/${gameId}/deliveries?purchaseId=${purchaseId}&state=DELIVERED`,
    );
    expect(body.deliveries).toHaveLength(1);
    const delivery = await onlyDelivery(gameId);
    expect(delivery).toMatchObject({ attemptCount: 1, nextAttemptAt: null, deliveredAt: expect.any(String) });
    expect(delivery.attempts).toEqual([
      {
        number: 1,
        trigger: "FIRST",
        startedAt: expect.any(String),
        url,
        request: { headers: { "Content-Type": "application/json" }, body: JSON.stringify({ receiptJwt }) },
        response: { status: 200, headers: { "x-from": "test" }, body: "ok\ufffd", truncated: false },
        outcome: "DELIVERED",
        error: null,
        timings: { lookupMs: null, connectMs: null, tlsMs: null, firstByteMs: 1, totalMs: 1 },
      },
    ]);
  });

  test("gets the refund too", async () => {
    const gameId = await createGameWithWebhook();
    const { purchaseId } = await buy(service, { gameId });
    await service.call("POST", `/api/games/${gameId}/purchases/${purchaseId}/refund`);
    await until("both delivered", async () =>
      (await deliveriesOf(gameId)).every((one) => one.state === "DELIVERED"),
    );
    expect(sender.sent).toHaveLength(2);
  });
});

describe("a receiver that refuses", () => {
  test("is tried nine times over three days with the same bytes, then the delivery is FAILED", async () => {
    behaviour = () => answered(500);
    const gameId = await createGameWithWebhook();
    await buy(service, { gameId });
    for (let count = 1; count <= 9; count++) {
      await until(`attempt ${count}`, async () => {
        const { attempts, nextAttemptAt, state } = await onlyDelivery(gameId);
        const written =
          attempts.length === count && attempts.every((attempt) => attempt.outcome === "FAILED");
        return written && (state === "FAILED" || nextAttemptAt !== null);
      });
      // Just far enough for the next one.
      const { nextAttemptAt } = await onlyDelivery(gameId);
      if (nextAttemptAt !== null) service.advance(Date.parse(nextAttemptAt) - service.nowMs());
    }
    const delivery = await onlyDelivery(gameId);
    expect(delivery).toMatchObject({
      state: "FAILED",
      attemptCount: 9,
      nextAttemptAt: null,
      deliveredAt: null,
    });
    expect(delivery.attempts.map((attempt) => attempt.trigger)).toEqual(["FIRST", ...Array(8).fill("RETRY")]);
    expect(delivery.attempts[0]?.error).toBe("the receiver answered 500");
    expect(new Set(sender.sent.map((sent) => sent.receiptJwt)).size).toBe(1);
    service.advance(100 * 60 * 60 * 1000);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(sender.sent).toHaveLength(9);
  });

  test("and then takes it: DELIVERED by a retry", async () => {
    behaviour = (_sent, nth) => answered(nth === 1 ? 503 : 204);
    const gameId = await createGameWithWebhook();
    await buy(service, { gameId });
    await until("failed once", async () => (await onlyDelivery(gameId)).attempts[0]?.outcome === "FAILED");
    service.advance(31_000);
    await until("delivered", async () => (await onlyDelivery(gameId)).state === "DELIVERED");
    expect(sender.sent).toHaveLength(2);
  });
});

describe("resend", () => {
  const resend = (gameId: string, id: string) =>
    service.call("POST", `/api/games/${gameId}/deliveries/${id}/resend`);

  test("202: a delivered one goes out again with the same bytes, and is logged", async () => {
    const gameId = await createGameWithWebhook();
    await buy(service, { gameId });
    await until("delivered", async () => (await onlyDelivery(gameId)).state === "DELIVERED");
    const { id } = await onlyDelivery(gameId);
    expect((await resend(gameId, id)).status).toBe(202);
    await until("again", async () => (await onlyDelivery(gameId)).attempts[1]?.outcome === "DELIVERED");
    expect((await onlyDelivery(gameId)).attempts.map((attempt) => attempt.trigger)).toEqual([
      "FIRST",
      "RESEND",
    ]);
    expect(new Set(sender.sent.map((sent) => sent.receiptJwt)).size).toBe(1);
  });

  test("202: one that was never sent, once there is a URL; 409 before; 404 for another game's", async () => {
    const gameId = await createGame(service);
    await buy(service, { gameId });
    const { id, state } = await onlyDelivery(gameId);
    expect(state).toBe("NOT_SENT");
    expect((await resend(gameId, id)).body.code).toBe("conflict");
    expect((await resend(await createGame(service), id)).body.code).toBe("not_found");
    await service.call("PUT", `/api/games/${gameId}/webhooks/PRODUCTION`, { body: { url } });
    await resend(gameId, id);
    await until("delivered", async () => (await onlyDelivery(gameId)).state === "DELIVERED");
  });

  test("that fails is retried like any delivery", async () => {
    behaviour = (_sent, nth) => answered(nth === 2 ? 500 : 200);
    const gameId = await createGameWithWebhook();
    await buy(service, { gameId });
    await until("delivered", async () => (await onlyDelivery(gameId)).state === "DELIVERED");
    await resend(gameId, (await onlyDelivery(gameId)).id);
    await until("failed", async () => (await onlyDelivery(gameId)).attempts[1]?.outcome === "FAILED");
    expect((await onlyDelivery(gameId)).state).toBe("PENDING");
    service.advance(31_000);
    await until("delivered again", async () => (await onlyDelivery(gameId)).state === "DELIVERED");
  });
});

describe("the URL", () => {
  test("is the one that is configured at the moment of the attempt", async () => {
    behaviour = (sent) => answered(sent.url === url ? 500 : 200);
    const gameId = await createGameWithWebhook();
    await buy(service, { gameId });
    await until("failed", async () => (await onlyDelivery(gameId)).attempts[0]?.outcome === "FAILED");
    await service.call("PUT", `/api/games/${gameId}/webhooks/PRODUCTION`, {
      body: { url: "https://new.example/" },
    });
    service.advance(31_000);
    await until("delivered", async () => (await onlyDelivery(gameId)).state === "DELIVERED");
    expect(sender.sent.map((sent) => sent.url)).toEqual([url, "https://new.example/"]);
  });

  test("blanked while a purchase commits: what is still PENDING is CANCELED instead of sent", async () => {
    const gameId = await createGameWithWebhook();
    const { sql } = service.database;
    await sql`UPDATE webhook_endpoints SET url = '' WHERE game_id = ${gameId}`;
    await buy(service, { gameId });
    await sql`UPDATE deliveries SET state = 'PENDING', next_attempt_at = now() - interval '1 minute' WHERE game_id = ${gameId}`;
    await until("canceled", async () => (await onlyDelivery(gameId)).state === "CANCELED");
    expect(sender.sent).toEqual([]);
  });
});

describe("one bad endpoint", () => {
  test("that hangs delays nobody else, and is soon tried one at a time", async () => {
    const hung: (() => void)[] = [];
    behaviour = (sent) =>
      sent.url.includes("slow")
        ? new Promise((resolve) => hung.push(() => resolve(failed("timed_out"))))
        : answered(200);
    const slow = await createGameWithWebhook("https://slow.example/");
    const good = await createGameWithWebhook();
    const contentIdentifier = (await buy(service, { gameId: slow })).contentIdentifier;
    for (let i = 0; i < 20; i++) await buy(service, { gameId: slow, contentIdentifier });
    await until("its share is taken", () => hung.length === 4);
    await buy(service, { gameId: good });
    await until("the other is delivered", async () => (await onlyDelivery(good)).state === "DELIVERED");
    expect(hung).toHaveLength(4);
    for (const end of hung.splice(0)) end();
    await until("it is tried again", () => hung.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(hung).toHaveLength(1);
    behaviour = () => answered(200);
    for (const end of hung.splice(0)) end();
  });
});

describe("our own network down", () => {
  test("is noticed, said, and burns nobody's attempts", async () => {
    let isDown = true;
    behaviour = () => (isDown ? failed("name_not_resolved") : answered(200));
    const games = await Promise.all(
      Array.from({ length: 8 }, (_, i) => createGameWithWebhook(`https://g${i}.example/`)),
    );
    for (const gameId of games) await buy(service, { gameId });
    await until("said", () => service.logLines.some((line) => line.includes("our own network seems down")));
    const before = sender.sent.length;
    const slots = async () =>
      (
        await service.database.sql<{ slot: number }[]>`SELECT slot FROM deliveries WHERE state = 'PENDING'`
      ).map((row) => row.slot);
    const burned = (await slots()).filter((slot) => slot > 0).length;
    expect(burned).toBeLessThan(8);
    service.advance(20_000);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(sender.sent.length - before).toBeLessThanOrEqual(2);
    isDown = false;
    service.advance(40_000);
    await until("all delivered", async () => (await slots()).length === 0);
    expect(service.logLines.some((line) => line.includes("can be reached again"))).toBe(true);
  });
});

test("a worker that slept past its lease changes no row when it wakes", async () => {
  const gameId = await createGame(service);
  await buy(service, { gameId });
  const { sql } = service.database;
  await sql`INSERT INTO webhook_endpoints VALUES (${gameId}, 'PRODUCTION', ${url}, now())`;
  // The workers of this test are the only ones.
  await service.app.stop();
  const at = (s: number) => new Date(Date.UTC(2001, 0, 1) + s * 1000);
  await sql`UPDATE deliveries SET state = 'PENDING', next_attempt_at = ${at(0)} WHERE game_id = ${gameId}`;
  await sql`CREATE TABLE delivery_attempts_20010101 PARTITION OF delivery_attempts FOR VALUES FROM ('2001-01-01') TO ('2001-01-02')`;
  const claim = (s: number, token: string) =>
    claimDeliveries(sql, {
      gameId,
      env: "PRODUCTION",
      now: at(s),
      leaseUntil: at(s + 30),
      token,
      maxCount: 5,
    });
  const [first] = await claim(0, "sleeper");
  expect(await claim(10, "early")).toEqual([]);
  const [second] = await claim(31, "successor");
  expect([first?.number, second?.number]).toEqual([1, 2]);
  const rows = async () =>
    JSON.stringify([
      await sql`SELECT * FROM deliveries WHERE game_id = ${gameId}`,
      await sql`SELECT * FROM delivery_attempts WHERE game_id = ${gameId} ORDER BY number`,
    ]);
  const before = await rows();
  expect(before).toContain("UNKNOWN");
  const deliveryId = first?.id ?? "";
  const next = { state: "DELIVERED" as const, slot: 0, at: null };
  const attempt = answered(200);
  await recordResults(
    sql,
    gameId,
    [{ deliveryId, number: 1, startedAt: at(0), token: "sleeper", attempt, next }],
    at(40),
  );
  expect(await rows()).toBe(before);
  await recordResults(
    sql,
    gameId,
    [{ deliveryId, number: 2, startedAt: at(31), token: "successor", attempt, next }],
    at(41),
  );
  expect(await rows()).not.toBe(before);
});
