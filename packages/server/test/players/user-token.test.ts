// POST .../players/{userId}/tokens: the user JWT.
import { createPublicKey, verify } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buy, createGame, createPlayerToken, createToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

const authUrl = "https://auth.example";
let service: TestService;
let gameId: string;
beforeAll(async () => {
  service = await startTestService({ authUrl });
  gameId = await createGame(service);
});
afterAll(() => service.stop());

const path = (userId: string, game = gameId) =>
  `/api/games/${game}/players/${encodeURIComponent(userId)}/tokens`;
const decode = (part: string | undefined) => JSON.parse(Buffer.from(part ?? "", "base64url").toString());

function open(userJwt: string) {
  const [header, claims, signature] = userJwt.split(".");
  return { header: decode(header), claims: decode(claims), signed: `${header}.${claims}`, signature };
}

describe("POST player token", () => {
  test("201 with a JWT of its own type, good for an hour, signed by a published key", async () => {
    const before = Math.floor(Date.now() / 1000);
    const { status, body } = await service.call("POST", path("ann"), { body: {} });
    expect(status).toBe(201);
    expect(Object.keys(body)).toEqual(["userJwt"]);
    const { header, claims, signed, signature } = open(body.userJwt);
    expect(header).toEqual({ alg: "RS256", typ: "service-user+jwt", kid: expect.any(String) });
    expect(claims).toEqual({
      iss: authUrl,
      aud: gameId,
      sub: "ann",
      env: "PRODUCTION",
      iat: expect.any(Number),
      exp: claims.iat + 3_600,
      jti: expect.any(String),
    });
    expect(claims.iat).toBeGreaterThanOrEqual(before);
    expect(claims.iat).toBeLessThanOrEqual(Math.floor(Date.now() / 1000));

    const { body: jwks } = await service.call("GET", "/.well-known/jwks.json", { token: null });
    const jwk = jwks.keys.find((key: { kid: string }) => key.kid === header.kid);
    const key = createPublicKey({ key: jwk, format: "jwk" });
    const bytes = Buffer.from(signature ?? "", "base64url");
    expect(verify("RSA-SHA256", Buffer.from(signed), key, bytes)).toBe(true);
    expect(verify("RSA-SHA256", Buffer.from(`${signed}x`), key, bytes)).toBe(false);
  });

  test.each([
    ["no body", undefined, "PRODUCTION"],
    ["PRODUCTION", { env: "PRODUCTION" }, "PRODUCTION"],
    ["PLAYTEST", { env: "PLAYTEST" }, "PLAYTEST"],
  ])("201 with %s", async (_what, body, env) => {
    const answer = await service.call("POST", path("ann"), body === undefined ? {} : { body });
    expect(answer.status).toBe(201);
    expect(open(answer.body.userJwt).claims.env).toBe(env);
  });

  test.each(["user|1", "a/b", "é 🏁", "a".repeat(128), "../x", "%41"])(
    "201 for the player %j",
    async (userId) => {
      const { status, body } = await service.call("POST", path(userId), { body: {} });
      expect(status).toBe(201);
      expect(open(body.userJwt).claims.sub).toBe(userId);
    },
  );

  test("the player is the buyer: sub is the same in the user token and the receipt", async () => {
    const bought = await buy(service, { gameId, userId: "é 🏁" });
    const userJwt = await createPlayerToken(service, gameId, "é 🏁");
    expect(open(bought.receiptJwt).claims.sub).toBe(open(userJwt).claims.sub);
  });

  test.each([[{ env: "production" }], [{ env: null }], [{ env: 1 }], [{ env: "" }]])(
    "400 for %j",
    async (body) => {
      const answer = await service.call("POST", path("ann"), { body });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: "invalid_input", field: "env" });
    },
  );

  test.each([[[]], [null], ["PLAYTEST"]])("400 for the body %j", async (body) => {
    expect((await service.call("POST", path("ann"), { body })).status).toBe(400);
  });

  test.each(["a".repeat(129), "\u0000", "a\nb"])(
    "404 for a player id that no purchase can have: %j",
    async (userId) => {
      expect((await service.call("POST", path(userId), { body: {} })).status).toBe(404);
    },
  );

  test("404 for a game that does not exist", async () => {
    expect((await service.call("POST", path("ann", "nobody"), { body: {} })).status).toBe(404);
  });

  test("403 for access tokens and players: nobody makes a token for themselves", async () => {
    const token = await createToken(service, gameId, "purchases:read", "scores:write");
    const player = await createPlayerToken(service, gameId, "ann");
    for (const caller of [token, player]) {
      expect((await service.call("POST", path("ann"), { token: caller, body: {} })).status).toBe(403);
    }
  });
});

describe("a user token in use", () => {
  const use = async (token: string, game = gameId) =>
    (await service.call("GET", `/api/games/${game}/me/entitlements`, { token })).status;

  test("200 for an hour, then 401", async () => {
    const token = await createPlayerToken(service, gameId, "ann");
    expect(await use(token)).toBe(200);
    service.advance(59 * 60_000);
    expect(await use(token)).toBe(200);
    service.advance(60_000 + 1_000);
    expect(await use(token)).toBe(401);
  });

  test("403 on another game, whether or not it exists", async () => {
    const token = await createPlayerToken(service, gameId, "ann");
    expect(await use(token, await createGame(service))).toBe(403);
    expect(await use(token, "nobody")).toBe(403);
  });

  test("401 for one that was changed: other player, other expiry, no signature", async () => {
    const token = await createPlayerToken(service, gameId, "ann");
    const [header, claims, signature] = token.split(".");
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const forged = [
      `${header}.${encode({ ...decode(claims), sub: "bob" })}.${signature}`,
      `${header}.${encode({ ...decode(claims), exp: 9_999_999_999 })}.${signature}`,
      `${encode({ alg: "none", typ: "service-user+jwt" })}.${claims}.`,
      `${header}.${claims}`,
      `${token}x`,
    ];
    for (const one of forged) expect(await use(one)).toBe(401);
  });

  test("401 for a receipt offered as a user token, and for a user token offered as a receipt", async () => {
    const bought = await buy(service, { gameId, userId: "ann" });
    expect(await use(bought.receiptJwt)).toBe(401);
    const answer = await service.call("POST", `/api/purchases/${bought.purchaseId}/fulfill`, {
      token: null,
      body: { receiptJwt: await createPlayerToken(service, gameId, "ann") },
    });
    expect(answer.status).toBe(401);
  });
});
