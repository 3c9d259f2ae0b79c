// Revocation: the key disappears, what it signed is worthless, and every event is signed anew with the same claims.
import { createPublicKey, type JsonWebKey } from "node:crypto";
import jwt from "jsonwebtoken";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claimsOf, fulfill, kidOf, refusal } from "../receipts/forgery-kit.ts";
import { type Bought, buy, createContent, createGame, createPlayerToken } from "../support/seed.ts";
import { startBeside, startTestService, type TestService } from "../support/test-service.ts";
import { resign, revoke } from "./revocation.ts";

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

async function kidIn(state: string): Promise<string> {
  const [row] = await service.database.sql<{ kid: string }[]>`
    SELECT kid FROM signing_keys WHERE state = ${state} ORDER BY created_at DESC LIMIT 1`;
  return row?.kid ?? "";
}

async function countSignedBy(kid: string): Promise<number> {
  const rows = await service.database.sql<{ kid: string; receiptJwt: string }[]>`
    SELECT kid, receipt_jwt FROM events`;
  // Both what the row says and what the receipt says.
  for (const row of rows) expect(kidOf(row.receiptJwt)).toBe(row.kid);
  return rows.filter((row) => row.kid === kid).length;
}

async function publishedKeys(of: TestService): Promise<Map<string, JsonWebKey>> {
  const { body } = await of.call("GET", "/.well-known/jwks.json", { token: null });
  return new Map(body.keys.map((key: JsonWebKey & { kid: string }) => [key.kid, key]));
}

interface FeedEvent {
  readonly id: string;
  readonly event: string;
  readonly receiptJwt: string;
}
async function feed(gameId: string): Promise<FeedEvent[]> {
  return (await service.call("GET", `/api/games/${gameId}/events?limit=200`)).body.events;
}

const fulfilled = { status: 200, body: { status: "FULFILLED" } };

describe("revoke the active key", () => {
  let gameId: string;
  let bought: Bought;
  let kid: string;
  let nextKid: string;
  let userJwt: string;
  let before: FeedEvent[];
  let buyOnce: () => ReturnType<TestService["call"]>;

  beforeAll(async () => {
    [kid, nextKid] = [await kidIn("ACTIVE"), await kidIn("NEXT")];
    gameId = await createGame(service);
    bought = await buy(service, { gameId, userId: "žofie" });
    const refunded = await buy(service, { gameId, type: "DURABLE", env: "PLAYTEST" });
    await service.call("POST", `/api/games/${gameId}/purchases/${refunded.purchaseId}/refund`);
    const contentIdentifier = await createContent(service, gameId, "CONSUMABLE");
    buyOnce = () =>
      service.call("POST", `/api/games/${gameId}/purchases`, {
        body: { userId: "u", contentIdentifier, env: "PRODUCTION" },
        headers: { "idempotency-key": "before-the-revocation" },
      });
    await buyOnce();
    userJwt = await createPlayerToken(service, gameId, "žofie");
    before = await feed(gameId);
    expect(before).toHaveLength(4);
    expect(await revoke(service, kid)).toBe(true);
    await service.app.keyring.refresh();
  });

  it("takes it out of the published set, destroys its private half and lets the next key sign", async () => {
    const [row] = await service.database.sql`
      SELECT state, private_sealed, revoked_at IS NOT NULL AS dated FROM signing_keys WHERE kid = ${kid}`;
    expect(row).toEqual({ state: "REVOKED", privateSealed: null, dated: true });
    const published = await publishedKeys(service);
    expect([...published.keys()].sort()).toEqual([nextKid, await kidIn("NEXT")].sort());
    expect(kidOf((await buy(service)).receiptJwt)).toBe(nextKid);
  });

  it("401 for the receipts and user tokens it signed, in every process within five seconds", async () => {
    expect(await fulfill(service, bought.purchaseId, bought.receiptJwt)).toMatchObject({
      status: 401,
      body: refusal,
    });
    const mine = await service.call("GET", `/api/games/${gameId}/me/purchases`, { token: userJwt });
    expect(mine.status).toBe(401);
    const inSecond = () => fulfill(second, "not-this-one", bought.receiptJwt);
    await expect.poll(inSecond, { timeout: 5_000, interval: 100 }).toMatchObject({ status: 401 });
    expect((await publishedKeys(second)).has(kid)).toBe(false);
  });

  it("every event verifies again after it was signed anew, with the same claims in the same order", async () => {
    expect(await resign(service, kid)).toBe(4);
    const after = await feed(gameId);
    const published = await publishedKeys(service);
    expect(after.map((event) => event.id)).toEqual(before.map((event) => event.id));
    for (const [index, event] of after.entries()) {
      const old = before[index]?.receiptJwt ?? "";
      expect(kidOf(event.receiptJwt)).toBe(nextKid);
      expect(JSON.stringify(claimsOf(event.receiptJwt))).toBe(JSON.stringify(claimsOf(old)));
      expect(claimsOf(event.receiptJwt)["jti"]).toBe(event.id);
      const key = createPublicKey({ key: published.get(nextKid) ?? {}, format: "jwk" });
      const { header } = jwt.verify(event.receiptJwt, key, { algorithms: ["RS256"], complete: true });
      expect(header).toEqual({ alg: "RS256", typ: "service-purchase+jwt", kid: nextKid });
    }
    expect(await countSignedBy(kid)).toBe(0);
  });

  it("201 a repeat with the Idempotency-Key from before is answered with the new receipt", async () => {
    const repeated = await buyOnce();
    expect(repeated.status).toBe(201);
    expect(kidOf(repeated.body.receiptJwt)).toBe(nextKid);
    const { purchaseId } = repeated.body.purchase;
    expect(claimsOf(repeated.body.receiptJwt)["purchaseId"]).toBe(purchaseId);
    expect(await fulfill(service, purchaseId, repeated.body.receiptJwt)).toMatchObject(fulfilled);
  });

  it("200 fulfil with the new receipt, 401 with the old one still", async () => {
    expect((await fulfill(service, bought.purchaseId, bought.receiptJwt)).status).toBe(401);
    const renewed = (await feed(gameId))[0]?.receiptJwt;
    expect(await fulfill(service, bought.purchaseId, renewed)).toMatchObject(fulfilled);
  });

  it("a second time changes nothing and finds nothing to sign", async () => {
    expect(await revoke(service, kid)).toBe(false);
    expect(await resign(service, kid)).toBe(0);
    expect(kidOf((await buy(service)).receiptJwt)).toBe(nextKid);
  });
});

describe("revoke another key", () => {
  it("the next one: it is replaced, and the active one signs on", async () => {
    const [active, next] = [await kidIn("ACTIVE"), await kidIn("NEXT")];
    expect(await revoke(service, next)).toBe(true);
    await service.app.keyring.refresh();
    expect(await kidIn("ACTIVE")).toBe(active);
    const published = await publishedKeys(service);
    expect(published.has(next)).toBe(false);
    expect(published.has(await kidIn("NEXT"))).toBe(true);
    const bought = await buy(service);
    expect(await fulfill(service, bought.purchaseId, bought.receiptJwt)).toMatchObject(fulfilled);
  });

  it("an unknown one: false, and nothing changes", async () => {
    const rows = () => service.database.sql`SELECT kid, state FROM signing_keys ORDER BY kid`;
    const before = await rows();
    for (const kid of ["key_unknown", "", "' OR true --"]) expect(await revoke(service, kid)).toBe(false);
    expect(await rows()).toEqual(before);
  });
});
