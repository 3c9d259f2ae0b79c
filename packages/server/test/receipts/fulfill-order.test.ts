// The order of the checks of a fulfil, and tokens of the service offered where they do not belong.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bought, buy, createPlayerToken, createToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import {
  brokenReceipt,
  claimsOf,
  expectRefused,
  forge,
  fulfill,
  headerOf,
  refusal,
  splitToken,
  stateOf,
  stealActiveKey,
} from "./forgery-kit.ts";

let service: TestService;
let bought: Bought;
let other: Bought;

beforeAll(async () => {
  service = await startTestService();
  bought = await buy(service);
  other = await buy(service, { gameId: bought.gameId });
});
afterAll(() => service.stop());

async function refundReceipt(purchase: Bought): Promise<string> {
  await service.call("POST", `/api/games/${purchase.gameId}/purchases/${purchase.purchaseId}/refund`);
  const { body } = await service.call("GET", `/api/games/${purchase.gameId}/events?limit=200`);
  return body.events.find(
    (event: { purchaseId: string; event: string }) =>
      event.purchaseId === purchase.purchaseId && event.event === "purchase.refunded",
  ).receiptJwt;
}

describe("POST /api/purchases/{purchaseId}/fulfill", () => {
  it.each([
    ["missing", {}],
    ["null", { receiptJwt: null }],
    ["a number", { receiptJwt: 7 }],
    ["true", { receiptJwt: true }],
    ["a list", { receiptJwt: ["a.b.c"] }],
    ["an object", { receiptJwt: { jwt: "a.b.c" } }],
    ["under another name", { receipt: "a.b.c", ReceiptJwt: "a.b.c" }],
  ])("400 receiptJwt %s", async (_what, body) => {
    const answer = await service.call("POST", `/api/purchases/${bought.purchaseId}/fulfill`, {
      token: null,
      body,
    });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: "invalid_input", field: "receiptJwt" });
  });

  it.each(["", "null", "[]", '"a.b.c"', "7", "{", '{"receiptJwt":"a.b.c"'])(
    "400 the body %j",
    async (raw) => {
      const answer = await service.call("POST", `/api/purchases/${bought.purchaseId}/fulfill`, {
        token: null,
        raw,
      });
      expect(answer).toMatchObject({ status: 400, body: { code: "invalid_input" } });
    },
  );

  it("400 a real receipt hidden in a list or under __proto__", async () => {
    for (const raw of [
      `{"receiptJwt":["${bought.receiptJwt}"]}`,
      `{"__proto__":{"receiptJwt":"${bought.receiptJwt}"}}`,
      `{"constructor":{"prototype":{"receiptJwt":"${bought.receiptJwt}"}}}`,
    ]) {
      const answer = await service.call("POST", `/api/purchases/${bought.purchaseId}/fulfill`, {
        token: null,
        raw,
      });
      expect(answer).toMatchObject({ status: 400, body: { code: "invalid_input" } });
    }
    expect(await stateOf(service, bought)).toBe("COMPLETED");
  });

  it("401 a receipt that is not one, the empty text included", async () => {
    for (const receiptJwt of ["", " ", "a", "a.b.c", "null", "undefined", "[object Object]"])
      await expectRefused(service, bought, receiptJwt);
  });

  it("401 before 400: a forged receipt of another purchase is a forged receipt", async () => {
    await expectRefused(service, bought, brokenReceipt(other.receiptJwt));
  });

  it("401 before 404: purchases that exist and that do not are answered in the same bytes", async () => {
    const forged = brokenReceipt(bought.receiptJwt);
    const texts = await Promise.all(
      [bought.purchaseId, "pur_00000000000000000000000000", "no-such-purchase", "%F0%9F%98%80"].map(
        async (purchaseId) => {
          const response = await fetch(`${service.url}/api/purchases/${purchaseId}/fulfill`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ receiptJwt: forged }),
          });
          return `${response.status} ${await response.text()}`;
        },
      ),
    );
    expect(new Set(texts)).toEqual(new Set([`401 ${JSON.stringify(refusal)}`]));
  });

  it("401 without a look at the database: it is refused while every table is locked", async () => {
    const { sql } = service.database;
    await sql.begin(async (tx) => {
      await tx`LOCK TABLE purchases, events, contents, games, access_tokens, idempotency_keys IN ACCESS EXCLUSIVE MODE`;
      await expect(
        fulfill(service, bought.purchaseId, brokenReceipt(bought.receiptJwt)),
      ).resolves.toMatchObject({
        status: 401,
        body: refusal,
      });
      const [blocked] = await tx<{ count: number }[]>`
        SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted AND database =
          (SELECT oid FROM pg_database WHERE datname = current_database())`;
      expect(blocked?.count).toBe(0);
    });
  });

  it("401 a refund's receipt, also for a purchase that is not its own", async () => {
    const refunded = await buy(service, { gameId: bought.gameId });
    const receiptJwt = await refundReceipt(refunded);
    for (const purchaseId of [refunded.purchaseId, bought.purchaseId]) {
      const answer = await fulfill(service, purchaseId, receiptJwt);
      expect(answer).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    }
    expect(await stateOf(service, refunded)).toBe("REFUNDED");
  });

  it("400 the receipt of another purchase, whether or not the purchase in the path exists", async () => {
    for (const purchaseId of [bought.purchaseId, "no-such-purchase", bought.purchaseId.toUpperCase()]) {
      const answer = await fulfill(service, purchaseId, other.receiptJwt);
      expect(answer).toMatchObject({ status: 400, body: { code: "invalid_input", field: "receiptJwt" } });
    }
    expect(await stateOf(service, bought)).toBe("COMPLETED");
    expect(await stateOf(service, other)).toBe("COMPLETED");
  });

  it("404 with its status when the purchase was refunded", async () => {
    const refunded = await buy(service);
    await refundReceipt(refunded);
    const answer = await fulfill(service, refunded.purchaseId, refunded.receiptJwt);
    expect(answer).toMatchObject({ status: 404, body: { code: "not_found", status: "NOT_FOUND" } });
  });

  it("404 with its status when the purchase never was", async () => {
    const key = await stealActiveKey(service);
    const claims = { ...claimsOf(bought.receiptJwt), purchaseId: "pur_00000000000000000000000000" };
    const answer = await fulfill(
      service,
      "pur_00000000000000000000000000",
      forge(headerOf(key), claims, key.privateKey),
    );
    expect(answer).toMatchObject({ status: 404, body: { code: "not_found", status: "NOT_FOUND" } });
  });

  it("401 the player's own token, an access token and the operator's token in place of a receipt", async () => {
    const userJwt = await createPlayerToken(service, bought.gameId, bought.userId);
    const accessToken = await createToken(service, bought.gameId, "purchases:read");
    for (const token of [userJwt, accessToken, service.operatorToken])
      await expectRefused(service, bought, token);
  });

  it("401 a user token whose type alone was rewritten", async () => {
    const userJwt = await createPlayerToken(service, bought.gameId, bought.userId);
    const [head] = splitToken(bought.receiptJwt);
    const [, body, signature] = splitToken(userJwt);
    await expectRefused(service, bought, `${head}.${body}.${signature}`);
  });

  it("200 whatever the Authorization header holds: the receipt is the only credential", async () => {
    const mine = await buy(service);
    const answer = await service.call("POST", `/api/purchases/${mine.purchaseId}/fulfill`, {
      token: "junk",
      body: { receiptJwt: mine.receiptJwt },
    });
    expect(answer.body).toEqual({ status: "FULFILLED" });
  });
});

describe("a receipt as a bearer token", () => {
  it.each([
    ["GET", "me/purchases"],
    ["GET", "me/entitlements"],
    ["GET", "events"],
    ["GET", "leaderboards"],
  ])("401 %s %s", async (method, path) => {
    const answer = await service.call(method, `/api/games/${bought.gameId}/${path}`, {
      token: bought.receiptJwt,
    });
    expect(answer).toMatchObject({ status: 401, body: { code: "unauthorized" } });
  });

  it("401 POST me/purchases/{purchaseId}/fulfill, and 401 a user token with the claims of a receipt", async () => {
    const key = await stealActiveKey(service);
    const path = `/api/games/${bought.gameId}/me/purchases/${bought.purchaseId}/fulfill`;
    const claims = claimsOf(bought.receiptJwt);
    const dressed = forge(headerOf(key), { ...claims, exp: 9_999_999_999 }, key.privateKey);
    const endless = forge({ ...headerOf(key), typ: "service-user+jwt" }, claims, key.privateKey);
    for (const token of [bought.receiptJwt, dressed, endless])
      expect((await service.call("POST", path, { token })).status).toBe(401);
    expect(await stateOf(service, bought)).toBe("COMPLETED");
  });
});
