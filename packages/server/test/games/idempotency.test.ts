// Idempotency-Key on every POST that creates.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createContent, createGame, createToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let service: TestService;
let gameId: string;
let consumable: string;
beforeAll(async () => {
  service = await startTestService();
  gameId = await createGame(service);
  consumable = await createContent(service, gameId, "CONSUMABLE");
});
afterAll(() => service.stop());

let count = 0;
const fresh = (word: string) => `${word}-${++count}`;

/** The answer's status and its body as it came over the wire. */
async function post(path: string, key: string | null, body: unknown, token = service.operatorToken) {
  const response = await fetch(service.url + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      ...(key === null ? {} : { "idempotency-key": key }),
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

const rows = (table: string) => async () =>
  (await service.database.sql`SELECT 1 FROM ${service.database.sql(table)}`).length;

interface Creation {
  readonly what: string;
  readonly path: () => string;
  /** A body whose creation can be repeated: nothing in it has to be unique, or the name is new each time. */
  readonly body: () => Record<string, unknown>;
  readonly otherBody: (body: Record<string, unknown>) => Record<string, unknown>;
  /** How many there are; null where nothing is kept. */
  readonly count: (() => Promise<number>) | null;
  /** Whether the same body can create a second one once the key is forgotten. */
  readonly repeatable: boolean;
}

const creations: Creation[] = [
  {
    what: "game",
    path: () => "/api/games",
    body: () => ({ title: "A game" }),
    otherBody: (body) => ({ ...body, title: "Another" }),
    count: rows("games"),
    repeatable: true,
  },
  {
    what: "leaderboard",
    path: () => `/api/games/${gameId}/leaderboards`,
    body: () => ({ name: fresh("board"), sortOrder: 0, displayType: 0 }),
    otherBody: (body) => ({ ...body, sortOrder: 1 }),
    count: rows("leaderboards"),
    repeatable: false,
  },
  {
    what: "content",
    path: () => `/api/games/${gameId}/contents`,
    body: () => ({
      contentIdentifier: fresh("item"),
      type: "DURABLE",
      title: "Item",
      price: { amount: 1, currency: "EUR" },
      files: ["b.pak", "a.pak"],
    }),
    otherBody: (body) => ({ ...body, price: { amount: 2, currency: "EUR" } }),
    count: rows("contents"),
    repeatable: false,
  },
  {
    what: "access token",
    path: () => `/api/games/${gameId}/tokens`,
    body: () => ({ label: "CI", scopes: ["leaderboards:read"] }),
    otherBody: (body) => ({ ...body, scopes: ["leaderboards:write"] }),
    count: rows("access_tokens"),
    repeatable: true,
  },
  {
    what: "player token",
    path: () => `/api/games/${gameId}/players/ann/tokens`,
    body: () => ({ env: "PRODUCTION" }),
    otherBody: () => ({ env: "PLAYTEST" }),
    count: null,
    repeatable: true,
  },
  {
    what: "purchase",
    path: () => `/api/games/${gameId}/purchases`,
    body: () => ({ userId: "ann", contentIdentifier: consumable, env: "PLAYTEST" }),
    otherBody: (body) => ({ ...body, userId: "bob" }),
    count: rows("purchases"),
    repeatable: true,
  },
];

const dayMs = 24 * 60 * 60 * 1000;

describe.each(creations)(
  "POST $what with an Idempotency-Key",
  ({ path, body, otherBody, count, repeatable }) => {
    test("201 twice, byte for byte the same, and one is created", async () => {
      const [key, sent, before] = [fresh("key"), body(), await count?.()];
      const first = await post(path(), key, sent);
      service.advance(1_500);
      const second = await post(path(), key, sent);
      expect(first.status).toBe(201);
      expect(second).toEqual(first);
      if (count !== null) expect(await count()).toBe((before ?? 0) + 1);
    });

    test("201 once, and the other calls at the same time get the same answer", async () => {
      const [key, sent, before] = [fresh("key"), body(), await count?.()];
      const answers = await Promise.all(Array.from({ length: 8 }, () => post(path(), key, sent)));
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201]));
      expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
      if (count !== null) expect(await count()).toBe((before ?? 0) + 1);
    });

    test("409 for another body, which creates nothing; the first body is still answered", async () => {
      const [key, sent] = [fresh("key"), body()];
      const first = await post(path(), key, sent);
      const before = await count?.();
      const other = await post(path(), key, otherBody(sent));
      expect(other.status).toBe(409);
      expect(JSON.parse(other.text)).toMatchObject({ code: "conflict", field: "Idempotency-Key" });
      expect(await count?.()).toBe(before);
      expect(await post(path(), key, sent)).toEqual(first);
    });

    test("a key is forgotten after a day, not before", async () => {
      const [key, sent] = [fresh("key"), body()];
      const first = await post(path(), key, sent);
      service.advance(dayMs - 60_000);
      // What is not kept may have expired by itself: then a good one is answered in its place.
      if (count === null) expect((await post(path(), key, otherBody(sent))).status).toBe(409);
      else expect(await post(path(), key, sent)).toEqual(first);
      service.advance(120_000);
      const later = await post(path(), key, sent);
      // A new attempt: it creates another one, or meets the first one's name.
      expect(later.status).toBe(repeatable ? 201 : 409);
      expect(later.text).not.toBe(first.text);
      if (repeatable) expect(await post(path(), key, sent)).toEqual(later);
    });

    test("another key creates another one, and so does no key", async () => {
      const sent = body();
      const again = repeatable ? sent : body();
      const once = repeatable ? sent : body();
      const answers = [
        await post(path(), fresh("key"), sent),
        await post(path(), fresh("key"), again),
        await post(path(), null, once),
      ];
      expect(answers.map((answer) => answer.status)).toEqual([201, 201, 201]);
      expect(new Set(answers.map((answer) => answer.text)).size).toBe(3);
    });

    test("a refused request does not use up its key", async () => {
      const key = fresh("key");
      expect((await post(path(), key, { env: 1 })).status).toBe(400);
      expect((await post(path(), key, body())).status).toBe(201);
    });

    test.each([
      ["nothing", ""],
      ["a space inside", "a b"],
      ["256 characters", "k".repeat(256)],
      ["a letter outside ASCII", "schl\u00fcssel"],
    ])("400 for a key of %s, and nothing is created", async (_what, key) => {
      const before = await count?.();
      const answer = await post(path(), key, body());
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.text)).toMatchObject({ code: "invalid_input", field: "Idempotency-Key" });
      expect(await count?.()).toBe(before);
    });

    test("201 for a key of 255 characters", async () => {
      expect((await post(path(), fresh("k").padEnd(255, "~"), body())).status).toBe(201);
    });
  },
);

describe("an Idempotency-Key belongs to its caller, game and operation", () => {
  test.each([
    ["leaderboards", "leaderboards:write", () => ({ name: fresh("mine"), sortOrder: 0, displayType: 0 })],
    [
      "contents",
      "catalog:write",
      () => ({
        contentIdentifier: fresh("mine"),
        type: "CONSUMABLE",
        title: "x",
        price: { amount: 0, currency: "EUR" },
      }),
    ],
  ])("%s: different callers do not collide", async (plural, scope, body) => {
    const path = `/api/games/${gameId}/${plural}`;
    const key = fresh("shared");
    const callers = [service.operatorToken];
    for (let i = 0; i < 2; i++) callers.push(await createToken(service, gameId, scope));
    for (const caller of callers) expect((await post(path, key, body(), caller)).status).toBe(201);
  });

  test("different games do not collide", async () => {
    const key = fresh("shared");
    for (const game of [await createGame(service), await createGame(service)]) {
      const path = `/api/games/${game}/leaderboards`;
      expect((await post(path, key, { name: game, sortOrder: 0, displayType: 0 })).status).toBe(201);
    }
  });

  test("different operations do not collide", async () => {
    const key = fresh("shared");
    for (const { path, body } of creations) expect((await post(path(), key, body())).status).toBe(201);
  });

  test("a player token that has expired is not answered again", async () => {
    const key = fresh("key");
    const path = `/api/games/${gameId}/players/ann/tokens`;
    const first = await post(path, key, { env: "PRODUCTION" });
    service.advance(2 * 60 * 60 * 1000);
    const second = await post(path, key, { env: "PRODUCTION" });
    expect([first.status, second.status]).toEqual([201, 201]);
    const purchases = `/api/games/${gameId}/me/purchases`;
    const { userJwt } = JSON.parse(second.text);
    expect((await service.call("GET", purchases, { token: userJwt })).status).toBe(200);
  });

  test("the same player token for another player is another request: 409", async () => {
    const key = fresh("shared");
    const sent = { env: "PLAYTEST" };
    expect((await post(`/api/games/${gameId}/players/ann/tokens`, key, sent)).status).toBe(201);
    expect((await post(`/api/games/${gameId}/players/bob/tokens`, key, sent)).status).toBe(409);
  });

  test("the order of the fields does not make another body", async () => {
    const key = fresh("key");
    const first = await post("/api/games", key, { id: "ordered", title: "x" });
    expect(await post("/api/games", key, { title: "x", id: "ordered" })).toEqual(first);
  });
});

test("POST access token: the stored answer does not show the token", async () => {
  const key = fresh("sealed");
  const { text } = await post(`/api/games/${gameId}/tokens`, key, { label: "CI", scopes: ["scores:write"] });
  const { accessToken } = JSON.parse(text);
  const [row] = await service.database.sql<{ answer: Buffer }[]>`
    SELECT answer FROM idempotency_keys WHERE key = ${key}`;
  expect(row?.answer.length).toBeGreaterThan(100);
  expect(row?.answer.includes(accessToken)).toBe(false);
  expect(row?.answer.includes("label")).toBe(false);
});

test("POST access token: a repeat is answered even when the token has expired since", async () => {
  const key = fresh("expired");
  const [now] = await service.database.sql<{ at: Date }[]>`SELECT max(created_at) AS at FROM access_tokens`;
  const expiresAt = new Date((now?.at.getTime() ?? 0) + 60 * 60 * 1000).toISOString();
  const sent = { label: "Short", scopes: ["scores:write"], expiresAt };
  const first = await post(`/api/games/${gameId}/tokens`, key, sent);
  expect(first.status).toBe(201);
  service.advance(2 * 60 * 60 * 1000);
  expect(await post(`/api/games/${gameId}/tokens`, key, sent)).toEqual(first);
});
