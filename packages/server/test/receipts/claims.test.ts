// Receipts as a game's backend reads them: checked by an independent JWT library against the published keys.
import { createPublicKey, type JsonWebKey } from "node:crypto";
import jwt from "jsonwebtoken";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createContent, createGame, createPlayerToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { kidOf } from "./forgery-kit.ts";

const authUrl = "https://auth.example.com/issuer";
let service: TestService;
let gameId: string;

beforeAll(async () => {
  service = await startTestService({ authUrl });
  gameId = await createGame(service);
});
afterAll(() => service.stop());

/** What a receiver does: fetch the key set, pick the key by kid, verify with a library that is not ours. */
async function verifyAsReceiver(token: string) {
  const response = await fetch(`${service.url}/.well-known/jwks.json`);
  const { keys } = (await response.json()) as { keys: (JsonWebKey & { kid: string })[] };
  const key = keys.find((candidate) => candidate.kid === kidOf(token));
  if (key === undefined) throw new Error("The receipt's key is not published.");
  return jwt.verify(token, createPublicKey({ key, format: "jwk" }), {
    algorithms: ["RS256"],
    issuer: authUrl,
    audience: gameId,
    complete: true,
  });
}

async function record(wish: { type: "CONSUMABLE" | "DURABLE"; env: string; source?: string }) {
  const contentIdentifier = await createContent(service, gameId, wish.type);
  const answer = await service.call("POST", `/api/games/${gameId}/purchases`, {
    body: {
      userId: "zoë:42",
      contentIdentifier,
      env: wish.env,
      ...(wish.source === undefined ? {} : { source: wish.source }),
    },
  });
  expect(answer.status).toBe(201);
  return { contentIdentifier, purchase: answer.body.purchase, receiptJwt: answer.body.receiptJwt as string };
}

async function eventOf(purchaseId: string, event: string) {
  const { body } = await service.call("GET", `/api/games/${gameId}/events?limit=200`);
  return body.events.find(
    (one: { purchaseId: string; event: string }) => one.purchaseId === purchaseId && one.event === event,
  );
}

async function activeKid(): Promise<string | undefined> {
  const [row] = await service.database.sql<{ kid: string }[]>`
    SELECT kid FROM signing_keys WHERE state = 'ACTIVE'`;
  return row?.kid;
}

const everyKind = (["CONSUMABLE", "DURABLE"] as const).flatMap((type) =>
  ["PRODUCTION", "PLAYTEST"].flatMap((env) =>
    ["PAYWALL", "STORE_PAGE", "GIFT_CODE"].map((source) => ({ type, env, source })),
  ),
);

describe("POST /api/games/{gameId}/purchases", () => {
  it.each(everyKind)("201 signs the receipt of a $env $type bought by $source", async (kind) => {
    const { contentIdentifier, purchase, receiptJwt } = await record(kind);
    const event = await eventOf(purchase.purchaseId, "purchase.completed");
    const { header, payload } = await verifyAsReceiver(receiptJwt);
    expect(header).toEqual({ alg: "RS256", typ: "service-purchase+jwt", kid: await activeKid() });
    // Equal to the letter: nothing is missing, and nothing else is in there, `exp` above all.
    expect(payload).toEqual({
      iss: authUrl,
      aud: gameId,
      sub: "zoë:42",
      env: kind.env,
      event: "purchase.completed",
      purchaseId: purchase.purchaseId,
      ptype: kind.type,
      contentIdentifier,
      iat: Math.floor(Date.parse(purchase.purchasedAt) / 1000),
      jti: event.id,
      purchasedAt: purchase.purchasedAt,
      source: kind.source,
    });
  });

  it("201 names the store page as the source when none was given", async () => {
    const { receiptJwt } = await record({ type: "CONSUMABLE", env: "PRODUCTION" });
    expect((await verifyAsReceiver(receiptJwt)).payload["source"]).toBe("STORE_PAGE");
  });

  it("201 gives the buyer the same id in the receipt and in the player's own token", async () => {
    const { receiptJwt } = await record({ type: "CONSUMABLE", env: "PRODUCTION" });
    const userJwt = await createPlayerToken(service, gameId, "zoë:42");
    const receipt = await verifyAsReceiver(receiptJwt);
    const user = await verifyAsReceiver(userJwt);
    expect(user.payload["sub"]).toBe(receipt.payload["sub"]);
    expect(user.header["typ"]).not.toBe(receipt.header["typ"]);
  });

  it("201 receipts of two purchases never share a jti", async () => {
    const first = await record({ type: "CONSUMABLE", env: "PRODUCTION" });
    const second = await record({ type: "CONSUMABLE", env: "PRODUCTION" });
    const ids = await Promise.all(
      [first, second].map(async ({ receiptJwt }) => (await verifyAsReceiver(receiptJwt)).payload["jti"]),
    );
    expect(new Set(ids).size).toBe(2);
  });
});

describe("POST /api/games/{gameId}/purchases/{purchaseId}/refund", () => {
  it.each(everyKind)("200 signs the refund of a $env $type bought by $source", async (kind) => {
    const { contentIdentifier, purchase } = await record(kind);
    service.advance(90_000);
    const refund = await service.call("POST", `/api/games/${gameId}/purchases/${purchase.purchaseId}/refund`);
    const event = await eventOf(purchase.purchaseId, "purchase.refunded");
    const { header, payload } = await verifyAsReceiver(event.receiptJwt);
    expect(header).toEqual({ alg: "RS256", typ: "service-purchase+jwt", kid: await activeKid() });
    expect(payload).toEqual({
      iss: authUrl,
      aud: gameId,
      sub: "zoë:42",
      env: kind.env,
      event: "purchase.refunded",
      purchaseId: purchase.purchaseId,
      ptype: kind.type,
      contentIdentifier,
      iat: Math.floor(Date.parse(refund.body.purchase.refundedAt) / 1000),
      jti: event.id,
      purchasedAt: purchase.purchasedAt,
      refundedAt: refund.body.purchase.refundedAt,
      source: kind.source,
    });
    expect(Date.parse(refund.body.purchase.refundedAt)).toBeGreaterThan(Date.parse(purchase.purchasedAt));
  });
});

describe("one event is signed once", () => {
  it("200 the answer, the feed, the stream and the player's list carry the same bytes", async () => {
    const { purchase, receiptJwt } = await record({ type: "CONSUMABLE", env: "PRODUCTION" });
    service.advance(5_000);
    const event = await eventOf(purchase.purchaseId, "purchase.completed");
    expect(event.receiptJwt).toBe(receiptJwt);

    const userJwt = await createPlayerToken(service, gameId, "zoë:42");
    const mine = await service.call("GET", `/api/games/${gameId}/me/purchases?fulfilled=false&limit=200`, {
      token: userJwt,
    });
    const listed = mine.body.purchases.find(
      (one: { purchaseId: string }) => one.purchaseId === purchase.purchaseId,
    );
    expect(listed.receiptJwt).toBe(receiptJwt);

    const stream = await fetch(`${service.url}/api/games/${gameId}/events/stream`, {
      headers: { authorization: `Bearer ${service.operatorToken}` },
    });
    let text = "";
    for await (const chunk of stream.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes(event.id) && text.endsWith("\n\n")) break;
    }
    expect(text).toContain(`"receiptJwt":"${receiptJwt}"`);
  });

  it("201 a repeat with the same Idempotency-Key carries the same bytes", async () => {
    const contentIdentifier = await createContent(service, gameId, "CONSUMABLE");
    const buyOnce = () =>
      service.call("POST", `/api/games/${gameId}/purchases`, {
        body: { userId: "u", contentIdentifier, env: "PRODUCTION" },
        headers: { "idempotency-key": "same-bytes" },
      });
    const first = await buyOnce();
    service.advance(60_000);
    const second = await buyOnce();
    expect(second.status).toBe(201);
    expect(second.body).toEqual(first.body);
  });
});
