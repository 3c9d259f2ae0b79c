// An access token in use: expiry, revocation, last use, and credentials that are not good.
import { crc32 } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createGame, createPlayerToken, createToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let service: TestService;
let gameId: string;
beforeAll(async () => {
  service = await startTestService();
  gameId = await createGame(service);
});
afterAll(() => service.stop());

const minuteMs = 60_000;
const use = async (token: string) =>
  (await service.call("GET", `/api/games/${gameId}/leaderboards`, { token })).status;
const create = async (more: object = {}) =>
  (
    await service.call("POST", `/api/games/${gameId}/tokens`, {
      body: { label: "In use", scopes: ["leaderboards:read"], ...more },
    })
  ).body;
/** What the service's own clock says, as it shows it. */
const serviceNow = async () => Date.parse((await create()).token.createdAt);

describe("expiry", () => {
  test("200 until the token expires, 401 from then on", async () => {
    const expiresAt = new Date((await serviceNow()) + 30 * minuteMs).toISOString();
    const { accessToken } = await create({ expiresAt });
    expect(await use(accessToken)).toBe(200);
    service.advance(29 * minuteMs);
    expect(await use(accessToken)).toBe(200);
    service.advance(minuteMs);
    expect(await use(accessToken)).toBe(401);
    service.advance(24 * 60 * minuteMs);
    expect(await use(accessToken)).toBe(401);
  });

  test("200 for ever without an expiry", async () => {
    const { accessToken } = await create();
    service.advance(5 * 365 * 24 * 60 * minuteMs);
    expect(await use(accessToken)).toBe(200);
  });
});

describe("revocation", () => {
  test("401 with the very next request", async () => {
    const { token, accessToken } = await create();
    expect(await use(accessToken)).toBe(200);
    await service.call("DELETE", `/api/games/${gameId}/tokens/${token.id}`);
    expect(await use(accessToken)).toBe(401);
  });
});

describe("last use", () => {
  const lastUse = async (id: string) => {
    const { body } = await service.call("GET", `/api/games/${gameId}/tokens?limit=200`);
    return body.tokens.find((token: { id: string }) => token.id === id).lastUsedAt;
  };

  test("is noted at the first use, and again a minute later", async () => {
    const { token, accessToken } = await create();
    expect(await lastUse(token.id)).toBeNull();
    await use(accessToken);
    const first = await vi.waitUntil(() => lastUse(token.id), 5_000);
    expect(Math.abs(Date.parse(first) - Date.parse(token.createdAt))).toBeLessThan(10_000);
    service.advance(2 * minuteMs);
    await use(accessToken);
    await vi.waitFor(async () => {
      expect(Date.parse(await lastUse(token.id)) - Date.parse(first)).toBeGreaterThanOrEqual(2 * minuteMs);
    }, 5_000);
  });

  test("is noted for a use that was refused with 403, and never for an expired token", async () => {
    const { token, accessToken } = await create();
    const other = await createGame(service);
    await service.call("GET", `/api/games/${other}/leaderboards`, { token: accessToken });
    await vi.waitUntil(() => lastUse(token.id), 5_000);

    const expiresAt = new Date((await serviceNow()) + minuteMs).toISOString();
    const expired = await create({ expiresAt });
    service.advance(2 * minuteMs);
    expect(await use(expired.accessToken)).toBe(401);
    expect(await lastUse(expired.token.id)).toBeNull();
  });
});

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
function withChecksum(text: string): string {
  let rest = crc32(text);
  let sum = "";
  for (let i = 0; i < 6; i++) {
    sum = base62[rest % 62] + sum;
    rest = Math.floor(rest / 62);
  }
  return text + sum;
}

const mangled: [what: string, mangle: (token: string) => string][] = [
  [
    "one character changed",
    (token) => token.slice(0, 20) + (token[20] === "a" ? "b" : "a") + token.slice(21),
  ],
  ["the last character changed", (token) => token.slice(0, -1) + (token.endsWith("a") ? "b" : "a")],
  ["the last character missing", (token) => token.slice(0, -1)],
  ["a character too many", (token) => `${token}0`],
  ["two characters swapped", (token) => token.slice(0, 4) + [...token.slice(4)].reverse().join("")],
  ["no prefix", (token) => token.slice(4)],
  ["another prefix", (token) => `cso_${token.slice(4)}`],
  ["the prefix in capitals", (token) => `CST_${token.slice(4)}`],
  ["the prefix alone", () => "cst_"],
  ["an unknown secret with a good checksum", () => withChecksum(`cst_${"7".repeat(43)}`)],
  ["a changed secret with its own checksum", (token) => withChecksum(`${token.slice(0, 46)}0`)],
  ["junk", () => "junk"],
  ["SQL", () => "cst_'OR'1'='1"],
];

describe("a credential that is not good", () => {
  test.each(mangled)("401 for a token with %s", async (_what, mangle) => {
    const token = await createToken(service, gameId, "leaderboards:read");
    expect(await use(token)).toBe(200);
    const { status, body } = await service.call("GET", `/api/games/${gameId}/leaderboards`, {
      token: mangle(token),
    });
    expect(status).toBe(401);
    expect(body.code).toBe("unauthorized");
  });

  test("401 tells unknown, expired and revoked tokens apart in nothing", async () => {
    const revoked = await create();
    await service.call("DELETE", `/api/games/${gameId}/tokens/${revoked.token.id}`);
    const expiresAt = new Date((await serviceNow()) + minuteMs).toISOString();
    const expired = await create({ expiresAt });
    service.advance(2 * minuteMs);
    const bodies = [];
    for (const token of [
      revoked.accessToken,
      expired.accessToken,
      withChecksum(`cst_${"7".repeat(43)}`),
      "cst_x",
    ]) {
      bodies.push((await service.call("GET", `/api/games/${gameId}/leaderboards`, { token })).body);
    }
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
  });

  test("401 for a bad credential whether or not the game exists, with one body", async () => {
    const paths = [`/api/games/${gameId}/leaderboards`, "/api/games/nobody/leaderboards"];
    const answers = [];
    for (const path of paths) answers.push(await service.call("GET", path, { token: "cst_x" }));
    expect(answers.map((answer) => answer.status)).toEqual([401, 401]);
    expect(answers[0]?.body).toEqual(answers[1]?.body);
  });

  test("200 whatever the case of the scheme; 401 for the token as a query or in a cookie", async () => {
    const token = await createToken(service, gameId, "leaderboards:read");
    const path = `/api/games/${gameId}/leaderboards`;
    const send = (headers: Record<string, string>, query = "") =>
      service.call("GET", path + query, { token: null, headers });
    expect((await send({ authorization: `bearer ${token}` })).status).toBe(200);
    expect((await send({}, `?access_token=${token}`)).status).toBe(401);
    expect((await send({ cookie: `token=${token}` })).status).toBe(401);
    expect((await send({ authorization: token })).status).toBe(401);
  });

  test("401 for a user token whose hour is over, not 403", async () => {
    const player = await createPlayerToken(service, gameId, "ann");
    expect(await use(player)).toBe(200);
    service.advance(61 * minuteMs);
    expect(await use(player)).toBe(401);
  });
});
