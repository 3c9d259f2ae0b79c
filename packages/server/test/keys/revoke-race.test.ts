// Revocation while purchases go on: afterwards not one event is signed by the revoked key.
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { rotateKeys } from "../../src/keys/rotate-keys.ts";
import { claimsOf, fulfill, kidOf } from "../receipts/forgery-kit.ts";
import { buy, createContent, createGame } from "../support/seed.ts";
import { startBeside, startTestService, type TestService } from "../support/test-service.ts";
import { keyDeps, resign, revoke } from "./revocation.ts";

let service: TestService;
let second: TestService;
beforeAll(async () => {
  service = await startTestService();
  second = await startBeside(service);
});
afterAll(async () => {
  await second.stop();
  await service.stop();
});

async function signers(gameId: string): Promise<Set<unknown>> {
  const rows = await service.database.sql<{ kid: string; receiptJwt: string }[]>`
    SELECT kid, receipt_jwt FROM events WHERE game_id = ${gameId}`;
  for (const row of rows) expect(kidOf(row.receiptJwt)).toBe(row.kid);
  return new Set(rows.map((row) => row.kid));
}

it("a purchase that was being written at the moment of the revocation is signed anew by the last pass", async () => {
  const { sql } = service.database;
  const gameId = await createGame(service);
  const contentIdentifier = await createContent(service, gameId, "CONSUMABLE");
  const kid = service.app.keyring.active().kid;

  // Held back inside its one statement, after it has seen that the key is good.
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let locked = (): void => undefined;
  const isLocked = new Promise<void>((resolve) => {
    locked = resolve;
  });
  const holding = sql.begin(async (tx) => {
    await tx`SELECT FROM game_feeds WHERE game_id = ${gameId} FOR UPDATE`;
    locked();
    await held;
  });
  await isLocked;
  const buying = buy(service, { gameId, contentIdentifier });
  const waiting = () => sql`
    SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await expect.poll(async () => (await waiting()).length, { timeout: 5_000, interval: 20 }).toBe(1);

  expect(await revoke(service, kid)).toBe(true);
  let asked = 0;
  const resigned = await resign(service, kid, async (ms) => {
    // The first pass is over and could not see it; it commits within the time that the service would wait now.
    asked = ms;
    expect(await signers(gameId)).toEqual(new Set());
    release();
    await holding;
    await buying;
    expect(await signers(gameId)).toEqual(new Set([kid]));
  });

  // Longer than any statement may run.
  expect(asked).toBeGreaterThan(10_000);
  expect(resigned).toBe(1);
  expect(await signers(gameId)).toEqual(new Set([service.app.keyring.active().kid]));
  const bought = await buying;
  expect((await fulfill(service, bought.purchaseId, bought.receiptJwt)).status).toBe(401);
  const { body } = await service.call("GET", `/api/games/${gameId}/events`);
  expect(claimsOf(body.events[0].receiptJwt)).toEqual(claimsOf(bought.receiptJwt));
  expect((await fulfill(service, bought.purchaseId, body.events[0].receiptJwt)).status).toBe(200);
});

it("201 for every purchase and 200 for every refund while keys are revoked in two processes", async () => {
  const gameId = await createGame(service);
  const contentIdentifier = await createContent(service, gameId, "CONSUMABLE");
  const statuses: number[] = [];
  let stop = false;
  const keepBuying = async (of: TestService): Promise<void> => {
    while (!stop) {
      const { status, body } = await of.call("POST", `/api/games/${gameId}/purchases`, {
        body: { userId: "u", contentIdentifier, env: "PRODUCTION" },
      });
      statuses.push(status);
      const path = `/api/games/${gameId}/purchases/${body.purchase?.purchaseId}/refund`;
      if (statuses.length % 5 === 0) statuses.push((await of.call("POST", path)).status);
    }
  };
  const buyers = [service, second].map(keepBuying);
  const revoked: string[] = [];
  for (const pauseMs of [0, 300]) {
    await systemClock.sleep(200 + pauseMs);
    const kid = service.app.keyring.active().kid;
    expect(await revoke(service, kid)).toBe(true);
    revoked.push(kid);
    await resign(service, kid);
  }
  stop = true;
  await Promise.all(buyers);

  expect(statuses.length).toBeGreaterThan(20);
  expect(new Set(statuses)).toEqual(new Set([200, 201]));
  const found = await signers(gameId);
  for (const kid of revoked) expect(found.has(kid)).toBe(false);
});

it("a retired key can be revoked too, and its receipts are signed anew by the active one", async () => {
  const { sql } = service.database;
  const bought = await buy(service);
  const outcome = await rotateKeys(sql, keyDeps(service), { evenIfUnpublished: true });
  if (!outcome.rotated) throw new Error("Not rotated.");
  await service.app.keyring.refresh();
  expect(kidOf(bought.receiptJwt)).toBe(outcome.retiredKid);
  expect(await revoke(service, outcome.retiredKid)).toBe(true);
  await resign(service, outcome.retiredKid);
  expect(service.app.keyring.active().kid).toBe(outcome.activeKid);
  expect((await fulfill(service, bought.purchaseId, bought.receiptJwt)).status).toBe(401);
  expect(await signers(bought.gameId)).toEqual(new Set([outcome.activeKid]));
});
