// The log after a varied session: nothing in it opens anything.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buy, createContent, createPlayerToken, createToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

describe("the log", () => {
  it("never contains a token, a receipt, a key or what an Idempotency-Key was answered", async () => {
    const bought = await buy(service);
    const { gameId } = bought;
    const accessToken = await createToken(service, gameId, "purchases:read", "leaderboards:write");
    const userJwt = await createPlayerToken(service, gameId, bought.userId);
    const contentIdentifier = await createContent(service, gameId, "CONSUMABLE");
    const keyed = () =>
      service.call("POST", `/api/games/${gameId}/purchases`, {
        body: { userId: "u", contentIdentifier, env: "PRODUCTION" },
        headers: { "idempotency-key": "idem-0123456789" },
      });
    const answered = await keyed();
    await keyed();
    const newToken = await service.call("POST", `/api/games/${gameId}/tokens`, {
      body: { label: "x", scopes: ["purchases:read"] },
      headers: { "idempotency-key": "idem-token" },
    });
    const secrets = [
      service.operatorToken,
      service.masterKey.toString("hex"),
      service.masterKey.toString("base64"),
      accessToken,
      userJwt,
      bought.receiptJwt,
      answered.body.receiptJwt,
      newToken.body.accessToken,
    ] as string[];

    for (const secret of secrets) {
      const encoded = `%${secret.charCodeAt(0).toString(16)}${encodeURIComponent(secret).slice(1)}`;
      const underscored = encodeURIComponent(secret).replaceAll("_", "%5F").replaceAll(".", "%2E");
      for (const spelling of [encodeURIComponent(secret), encoded, underscored]) {
        for (const path of [
          `/healthz?token=${spelling}`,
          `/${spelling}`,
          `/api/games/${spelling}`,
          `/api/games/${gameId}/leaderboards/${spelling}`,
          `/api/games/${gameId}/leaderboards/by-name/x${spelling}`,
          `/api/games/${gameId}/purchases?cursor=${spelling}`,
          `/api/games/${gameId}/events?after=${spelling}`,
          `/api/games/${gameId}/me/purchases/${spelling}`,
        ])
          await service.call("GET", path);
      }
      await service.call("GET", `/api/${secret}/%zz`);
      await service.call("GET", "/api/games", { token: secret });
      await service.call("GET", `/api/games/${gameId}/events`, { token: secret });
      await service.call("GET", "/api/games", { token: null, headers: { authorization: secret } });
      await service.call("GET", "/api/games", { token: null, headers: { authorization: `Basic ${secret}` } });
      await service.call("GET", "/healthz", {
        headers: {
          "x-request-id": secret,
          "user-agent": secret,
          referer: secret,
          cookie: `a=${secret}`,
        },
      });
      await service.call("POST", "/api/games", { body: { id: secret, title: 7 } });
      await service.call("POST", "/api/games", { raw: `{"title":"${secret}"` });
      await service.call("POST", `/api/purchases/${encodeURIComponent(secret)}/fulfill`, {
        token: null,
        body: { receiptJwt: secret },
      });
      await service.call("POST", `/api/games/${gameId}/purchases`, {
        body: { userId: secret, contentIdentifier: secret, env: secret },
        headers: { "idempotency-key": secret.slice(0, 200) },
      });
    }
    await service.call("POST", `/api/purchases/${bought.purchaseId}/fulfill`, {
      token: null,
      body: { receiptJwt: bought.receiptJwt },
    });
    await provokeInternalError(gameId, bought.receiptJwt);

    const log = service.logLines.join("");
    expect(service.logLines.length).toBeGreaterThan(200);
    expect(log).toContain("A request failed");
    // The line at fault alone: a failure shall not print the whole log. A good piece of a secret counts as well.
    const pieces = secrets.flatMap((secret) => secret.split(".")).map((piece) => piece.slice(4, 40));
    const leaks = service.logLines.filter((line) => pieces.some((piece) => line.includes(piece)));
    expect(leaks.slice(0, 3)).toEqual([]);
    expect(log).not.toMatch(/idempotency|idem-0123456789|PRIVATE KEY/i);
  });

  it("names the request, its outcome and the caller, one JSON object a line", async () => {
    const bought = await buy(service);
    const token = await createToken(service, bought.gameId, "purchases:read");
    const path = `/api/games/${bought.gameId}/purchases/${bought.purchaseId}`;
    const { headers } = await service.call("GET", `${path}?x=1`, { token });
    const find = () =>
      service.logLines
        .map((line) => JSON.parse(line))
        .find((l) => l.requestId === headers.get("x-request-id"));
    await expect.poll(find).toMatchObject({ method: "GET", path, status: 200, msg: "request" });
    expect(find().caller).toMatch(/^token:tok_/);
    expect(find().ms).toBeGreaterThanOrEqual(0);
  });
});

/** A fault of our own, with secrets about: the table is taken away under a request that carries them. */
async function provokeInternalError(gameId: string, receiptJwt: string): Promise<void> {
  const { sql } = service.database;
  await sql`ALTER TABLE contents RENAME TO contents_away`;
  const answer = await service.call("POST", `/api/games/${gameId}/purchases`, {
    body: { userId: receiptJwt.slice(0, 100), contentIdentifier: "x", env: "PRODUCTION" },
  });
  await sql`ALTER TABLE contents_away RENAME TO contents`;
  expect(answer.status).toBe(500);
  expect(answer.body).toEqual({
    code: "internal",
    error: expect.not.stringMatching(/contents|relation|SQL/),
  });
}
