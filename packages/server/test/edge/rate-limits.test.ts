// Rate limits over HTTP: by address, by credential, and on failures. Ten seconds' worth may come at once.
import { describe, expect, it } from "vitest";
import type { RateLimits } from "../../src/config.ts";
import { hashCredential } from "../../src/http/callers.ts";
import { createServer } from "../../src/http/create-server.ts";
import { createLog } from "../../src/log.ts";
import { brokenReceipt, fulfill } from "../receipts/forgery-kit.ts";
import { buy, createPlayerToken, createToken } from "../support/seed.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

async function withService(
  rateLimits: Partial<RateLimits>,
  work: (service: TestService) => Promise<void>,
): Promise<void> {
  const service = await startTestService({ rateLimits });
  try {
    await work(service);
  } finally {
    await service.stop();
  }
}

/** Asks until refused: on a slow machine the allowance grows while the test asks. */
async function askUntilRefused(call: () => Promise<Answer>): Promise<Answer[]> {
  const answers = [await call()];
  while (answers.at(-1)?.status !== 429 && answers.length < 60) answers.push(await call());
  return answers;
}

const statuses = (answers: readonly Answer[]) => answers.map((answer) => answer.status);

function limitHeaders({ headers }: Answer) {
  const policy = /^"(\w+)";q=(\d+);w=(\d+)$/.exec(headers.get("ratelimit-policy") ?? "");
  const state = /^"(\w+)";r=(\d+);t=(\d+)$/.exec(headers.get("ratelimit") ?? "");
  const plain = ["limit", "remaining", "reset"].map((name) => headers.get(`ratelimit-${name}`));
  // Both forms say the same.
  expect([policy?.[1], policy?.[2], state?.[2], state?.[3]]).toEqual([state?.[1], ...plain]);
  expect(policy?.[3]).toBe("10");
  return {
    policy: policy?.[1],
    limit: Number(plain[0]),
    remaining: Number(plain[1]),
    resetS: Number(plain[2]),
  };
}

function expectTooMany(answer: Answer | undefined): void {
  if (answer === undefined) throw new Error("No answer.");
  expect(answer.status).toBe(429);
  expect(answer.body).toEqual({
    error: expect.stringMatching(/Try again in \d+ s\.$/),
    code: "rate_limited",
  });
  expect(answer.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
}

describe("by address", () => {
  it("200 ten seconds' worth at once, then 429 with Retry-After, then 200 again; every answer says where it stands", () =>
    withService({ address: 1 }, async (service) => {
      const ask = () => service.call("GET", "/healthz", { token: null });
      const answers = await askUntilRefused(ask);
      expect(statuses(answers.slice(0, 10))).toEqual(Array(10).fill(200));
      const [first, refused] = [answers[0], answers.at(-1)];
      if (first === undefined || refused === undefined) throw new Error("No answer.");
      expect(limitHeaders(first)).toEqual({ policy: "address", limit: 10, remaining: 9, resetS: 1 });
      for (const answer of answers.slice(1)) expect(limitHeaders(answer).remaining).toBeLessThan(9);
      expectTooMany(refused);
      expect(limitHeaders(refused)).toEqual({ policy: "address", limit: 10, remaining: 0, resetS: 1 });
      for (const path of ["/no/such/route", "/api/games"])
        expectTooMany((await askUntilRefused(() => service.call("GET", path))).at(-1));

      service.advance(1_000);
      expect((await ask()).status).toBe(200);
    }));
});

describe("by credential, and on failures", () => {
  it("429 for who asks too much or fails too often, and for nobody else on the same address", () =>
    withService({ credential: 1, failed: 1 }, async (service) => {
      const bought = await buy(service);
      const { gameId, userId } = bought;
      const [busy, calm] = [
        await createToken(service, gameId, "leaderboards:read"),
        await createToken(service, gameId, "leaderboards:read"),
      ];
      const player = await createPlayerToken(service, gameId, userId);
      service.advance(10_000);
      const path = `/api/games/${gameId}/leaderboards`;
      const ask = (token: string) => service.call("GET", path, { token });

      const asked = await askUntilRefused(() => ask(busy));
      expect(statuses(asked.slice(0, 10))).toEqual(Array(10).fill(200));
      expectTooMany(asked.at(-1));
      const header = asked.at(-1);
      expect(header && limitHeaders(header)).toMatchObject({ policy: "credential", limit: 10, remaining: 0 });
      for (const token of [calm, player]) expect((await ask(token)).status).toBe(200);
      service.advance(1_000);
      expect((await ask(busy)).status).toBe(200);

      // A good credential used on routes that it may not call does not go round its limit.
      const forbidden = await askUntilRefused(() =>
        service.call("GET", `/api/games/${gameId}/events`, { token: calm }),
      );
      expect(new Set(statuses(forbidden))).toEqual(new Set([403, 429]));

      service.advance(10_000);
      const guesses = await askUntilRefused(() => ask(`cst_${"0".repeat(49)}`));
      expect(statuses(guesses.slice(0, 10))).toEqual(Array(10).fill(401));
      expectTooMany(guesses.at(-1));
      expect(guesses.at(-1)?.headers.get("www-authenticate")).toBeNull();
      expect((await ask(calm)).status).toBe(200);
      expect((await service.call("GET", "/api/games")).status).toBe(200);

      service.advance(10_000);
      const forged = brokenReceipt(bought.receiptJwt);
      const tries = await askUntilRefused(() => fulfill(service, bought.purchaseId, forged));
      expect(statuses(tries.slice(0, 10))).toEqual(Array(10).fill(401));
      expectTooMany(tries.at(-1));
      expect((await fulfill(service, bought.purchaseId, bought.receiptJwt)).body).toEqual({
        status: "FULFILLED",
      });
      service.advance(10_000);
      expect((await fulfill(service, bought.purchaseId, forged)).status).toBe(401);
    }));
});

describe("behind a proxy", () => {
  /** The edge alone: the whole service has no proxy in front of it in tests. */
  async function askThrough(forwarded: readonly string[]): Promise<number[]> {
    const app = createServer(
      {
        clock: { nowMs: () => 0, sleep: async () => undefined },
        ids: () => "req_1",
        log: createLog("error"),
        baseUrl: "http://localhost:4000",
        trustProxy: ["127.0.0.1/32"],
        rateLimits: { address: 1, credential: 0, failed: 0 },
        callers: {
          operatorTokenHash: hashCredential("x"),
          findToken: async () => null,
          findPlayer: async () => null,
        },
        isDatabaseUp: () => true,
        gameExists: async () => false,
      },
      [],
    );
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    const answers: number[] = [];
    for (const value of forwarded)
      answers.push((await fetch(`${url}/x`, { headers: { "x-forwarded-for": value } })).status);
    await app.close();
    return answers;
  }
  const tenThenRefused = [...Array<number>(10).fill(404), 429];
  const eleven = <T>(make: (index: number) => T) => Array.from({ length: 11 }, (_, index) => make(index));

  it.each([
    ["an address with a port", (index: number) => `203.0.113.7:${5000 + index}`],
    ["IPv6 with a port", (index: number) => `[2001:db8::1]:${5000 + index}`],
    ["garbage", (index: number) => `junk-${index}`],
    [
      "one IPv4 address, mapped in many spellings",
      (index: number) => `::${"0:".repeat(index % 5)}ffff:808:808`,
    ],
  ])("429 for %s in X-Forwarded-For, which gave each request a limit of its own", async (_what, make) => {
    expect(await askThrough(eleven(make))).toEqual(tenThenRefused);
  });

  it("404 for eleven clients with an address each, mapped into IPv6 or not", async () => {
    expect(await askThrough(eleven((index) => `203.0.113.${index}`))).toEqual(Array(11).fill(404));
    expect(await askThrough(eleven((index) => `::ffff:808:80${index % 10}${index}`))).toEqual(
      Array(11).fill(404),
    );
  });
});
