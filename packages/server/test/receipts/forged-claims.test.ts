// Receipts signed with the service's own key over claims that the service would never write.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bought, buy } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import {
  claimsOf,
  expectRefused,
  forge,
  fulfill,
  headerOf,
  type RealKey,
  stateOf,
  stealActiveKey,
} from "./forgery-kit.ts";

const issuer = "http://localhost:4000";
let service: TestService;
let bought: Bought;
let key: RealKey;
let claims: Record<string, unknown>;

beforeAll(async () => {
  service = await startTestService();
  bought = await buy(service);
  key = await stealActiveKey(service);
  claims = claimsOf(bought.receiptJwt);
  expect(claims["iss"]).toBe(issuer);
});
afterAll(() => service.stop());

const refuse = (payload: unknown) =>
  expectRefused(service, bought, forge(headerOf(key), payload, key.privateKey));

describe("POST /api/purchases/{purchaseId}/fulfill", () => {
  it.each([
    undefined,
    null,
    "",
    `${issuer}/`,
    `${issuer}//`,
    `${issuer}/.well-known/jwks.json`,
    issuer.toUpperCase(),
    "HTTP://localhost:4000",
    "https://localhost:4000",
    "http://localhost",
    "http://localhost:4001",
    "http://localhost:4000.evil.example",
    "http://evil.example",
    ` ${issuer}`,
    `${issuer}\u0000`,
    [issuer],
    { iss: issuer },
    1,
  ])("401 iss %j", async (iss) => {
    const { iss: _real, ...rest } = claims;
    await refuse(iss === undefined ? rest : { iss, ...rest });
  });

  const required = [
    "aud",
    "sub",
    "iat",
    "jti",
    "env",
    "event",
    "purchaseId",
    "ptype",
    "contentIdentifier",
    "source",
    "purchasedAt",
  ];
  it("the list of required claims below is whole", () => {
    expect(["iss", ...required].sort()).toEqual(Object.keys(claims).sort());
  });

  it.each(required)("401 without %s", async (name) => {
    const { [name]: _dropped, ...rest } = claims;
    await refuse(rest);
  });

  it.each(required)("401 %s of another type", async (name) => {
    const wrongTypes: unknown[] = [null, true, [claims[name]], { value: claims[name] }, []];
    wrongTypes.push(name === "iat" ? String(claims[name]) : 7, name === "iat" ? 1.5 : false);
    for (const value of wrongTypes) await refuse({ ...claims, [name]: value });
  });

  it.each([
    ["env", "production"],
    ["env", "STAGING"],
    ["env", ""],
    ["event", "purchase.created"],
    ["event", "PURCHASE.COMPLETED"],
    ["ptype", "consumable"],
    ["ptype", "GIFT"],
    ["source", "DIRECT"],
  ])("401 %s %j, a word that is not on the list", async (name, value) => {
    await refuse({ ...claims, [name]: value });
  });

  it.each(["[]", "null", "1", "true", '"text"', "", "{", "{}", "not json", "{}{}", "[{}]"])(
    "401 the payload %j",
    async (payload) => {
      await refuse(payload);
    },
  );

  it("401 the right claims inside a list or a text", async () => {
    await refuse([claims]);
    await refuse(JSON.stringify(JSON.stringify(claims)));
  });

  it.each(["iss", "aud", "sub", "env", "event", "purchaseId", "jti"])(
    "401 %s twice in the payload, in either order, even with the same value",
    async (name) => {
      const text = JSON.stringify(claims);
      for (const value of [claims[name], "another"]) {
        const field = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
        await refuse(`{${field},${text.slice(1)}`);
        await refuse(`${text.slice(0, -1)},${field}}`);
        const escaped = `"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}":${JSON.stringify(value)}`;
        await refuse(`${text.slice(0, -1)},${escaped}}`);
      }
    },
  );

  it("401 a payload in another spelling of the same JSON, which two readers might read in two ways", async () => {
    const text = JSON.stringify(claims);
    for (const spelling of [
      ` ${text}`,
      `${text}\n`,
      `\ufeff${text}`,
      text.replace(":", ": "),
      JSON.stringify(claims, null, 2),
      text.replace("PRODUCTION", "\\u0050RODUCTION"),
      text.replace(/"iat":(\d+)/, '"iat":$1.0'),
      text.replace(/"iat":(\d+)/, '"iat":$1e0'),
    ]) {
      expect(spelling).not.toBe(text);
      await refuse(spelling);
    }
  });

  it("404 with its status when game, buyer or environment are not the purchase's, though the receipt verifies", async () => {
    const other = await buy(service);
    for (const changed of [
      { aud: other.gameId },
      { aud: "no-such-game" },
      { aud: "" },
      { sub: other.userId },
      { sub: `${bought.userId} ` },
      { env: "PLAYTEST" },
    ]) {
      const token = forge(headerOf(key), { ...claims, ...changed }, key.privateKey);
      const answer = await fulfill(service, bought.purchaseId, token);
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ code: "not_found", status: "NOT_FOUND" });
    }
    expect(await stateOf(service, bought)).toBe("COMPLETED");
  });

  it.each([
    ["a claim nobody knows", { surprise: { deep: [1, "two", null] } }],
    ["an exp in the past, since receipts do not expire", { exp: 1 }],
    ["an nbf in the future", { nbf: 9_999_999_999 }],
  ])("200 with %s", async (_what, extra) => {
    const mine = await buy(service);
    const token = forge(headerOf(key), { ...claimsOf(mine.receiptJwt), ...extra }, key.privateKey);
    expect((await fulfill(service, mine.purchaseId, token)).body).toEqual({ status: "FULFILLED" });
    expect(await stateOf(service, mine)).toBe("FULFILLED");
  });

  it("200 years later", async () => {
    service.advance(20 * 365 * 24 * 60 * 60 * 1000);
    const answer = await fulfill(service, bought.purchaseId, bought.receiptJwt);
    expect(answer.body).toEqual({ status: "FULFILLED" });
  });
});
