// POST, GET and DELETE .../tokens: access tokens are shown once and kept as a hash.
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createGame, createToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let service: TestService;
let gameId: string;
beforeAll(async () => {
  service = await startTestService();
  gameId = await createGame(service);
});
afterAll(() => service.stop());

const path = (game = gameId) => `/api/games/${game}/tokens`;
const create = (body: unknown, game?: string) => service.call("POST", path(game), { body });
const good = { label: "CI", scopes: ["leaderboards:read", "webhooks:write"] };
const hourMs = 3_600_000;
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
function checksumOf(text: string): string {
  let rest = crc32(text);
  let out = "";
  for (let i = 0; i < 6; i++) {
    out = base62[rest % 62] + out;
    rest = Math.floor(rest / 62);
  }
  return out;
}

describe("POST token", () => {
  test("201 with the token and what is known of it", async () => {
    const before = Date.now();
    const { status, body } = await create(good);
    expect(status).toBe(201);
    expect(body).toStrictEqual({
      token: {
        id: expect.stringMatching(/^tok_[0-9a-z]{26}$/),
        label: "CI",
        scopes: good.scopes,
        createdAt: expect.any(String),
        expiresAt: null,
        lastUsedAt: null,
      },
      accessToken: expect.any(String),
    });
    expect(Date.parse(body.token.createdAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(body.token.createdAt)).toBeLessThanOrEqual(Date.now());
  });

  test("its form: cst_, 43 characters for 32 random bytes, 6 for a checksum, all base62", async () => {
    const tokens = [];
    for (let i = 0; i < 5; i++) tokens.push((await create(good)).body.accessToken as string);
    for (const token of tokens) {
      expect(token).toMatch(/^cst_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/);
      expect(token.slice(-6)).toBe(checksumOf(token.slice(0, -6)));
      // 62^43 is a little more than 2^256: the number must be one of 256 bits.
      let value = 0n;
      for (const char of token.slice(4, 47)) value = value * 62n + BigInt(base62.indexOf(char));
      expect(value < 2n ** 256n).toBe(true);
    }
    expect(new Set(tokens).size).toBe(tokens.length);
  });

  test("only its SHA-256 is stored, and no list, table or log line shows it again", async () => {
    const { body } = await service.call("POST", path(), {
      body: good,
      headers: { "idempotency-key": "shown-once" },
    });
    const token: string = body.accessToken;
    const { sql } = service.database;
    const [row] = await sql<{ tokenHash: Buffer }[]>`
      SELECT token_hash FROM access_tokens WHERE id = ${body.token.id}`;
    expect(row?.tokenHash).toEqual(createHash("sha256").update(token).digest());
    await service.call("GET", `/api/games/${gameId}/leaderboards`, { token });

    const secret = token.slice(4, 47);
    const hex = Buffer.from(secret).toString("hex");
    const tables = await sql<{ name: string }[]>`
      SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`;
    expect(tables.length).toBeGreaterThan(8);
    for (const { name } of tables) {
      const found = await sql`
        SELECT 1 FROM ${sql(name)} AS t WHERE t::text LIKE ${`%${secret}%`} OR t::text LIKE ${`%${hex}%`}`;
      expect(found.length, name).toBe(0);
    }
    expect(JSON.stringify((await service.call("GET", path())).body)).not.toContain(secret);
    expect(service.logLines.length).toBeGreaterThan(0);
    expect(service.logLines.join("")).not.toContain(secret);
  });

  test.each([
    ["leaderboards:read"],
    ["leaderboards:write"],
    ["scores:write"],
    ["catalog:write"],
    ["purchases:read"],
    ["webhooks:read"],
    ["webhooks:write"],
  ])("201 with the scope %s alone", async (scope) => {
    expect((await create({ label: "x", scopes: [scope] })).body.token.scopes).toEqual([scope]);
  });

  test.each([
    ["in UTC", inMs(hourMs)],
    ["with another zone", inMs(3 * hourMs).replace("Z", "+02:00")],
    ["just under ten years away", inMs(10 * 365 * 24 * hourMs - hourMs)],
  ])("201 with an expiry %s, shown in UTC", async (_what, expiresAt) => {
    const { status, body } = await create({ ...good, expiresAt });
    expect(status).toBe(201);
    expect(body.token.expiresAt).toBe(new Date(expiresAt).toISOString());
  });

  test("201 with an expiry of null: none", async () => {
    expect((await create({ ...good, expiresAt: null })).body.token.expiresAt).toBeNull();
  });

  test.each([
    ["label", undefined],
    ["label", ""],
    ["label", "a".repeat(101)],
    ["label", "a\nb"],
    ["label", 1],
    ["scopes", undefined],
    ["scopes", []],
    ["scopes", "leaderboards:read"],
    ["scopes", ["leaderboards:read", "leaderboards:read"]],
    ["scopes.0", ["admin"]],
    ["scopes.1", ["leaderboards:read", "*"]],
    ["scopes.0", [null]],
    ["expiresAt", inMs(-1_000)],
    ["expiresAt", inMs(10 * 365 * 24 * hourMs + hourMs)],
    ["expiresAt", "2027-01-01"],
    ["expiresAt", "tomorrow"],
    ["expiresAt", 1_900_000_000],
    ["expiresAt", ""],
  ])("400 when %s is wrong: %j", async (field, value) => {
    const rows = () => service.database.sql`SELECT 1 FROM access_tokens`;
    const before = (await rows()).length;
    const { status, body } = await create({ ...good, [field.split(".")[0] ?? ""]: value });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "invalid_input", field });
    expect((await rows()).length).toBe(before);
  });

  test("404 for a game that does not exist", async () => {
    expect((await create(good, "nobody")).status).toBe(404);
  });

  test("409 past the two hundredth token of a game", async () => {
    const full = await createGame(service);
    await service.database.sql`
      INSERT INTO access_tokens (id, game_id, token_hash, label, scopes, created_at)
      SELECT 'tok_' || ${full} || n, ${full}, sha256(${full}::bytea || n::text::bytea), 'x', '{}', now()
      FROM generate_series(1, 199) n`;
    expect((await create(good, full)).status).toBe(201);
    expect((await create(good, full)).body.code).toBe("conflict");
  });
});

describe("GET tokens", () => {
  test("200 in pages, oldest first, without the tokens themselves", async () => {
    const own = await createGame(service);
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      ids.push((await create({ ...good, label: `Token ${i}` }, own)).body.token.id);
      service.advance(5);
    }
    const seen: { id: string }[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? "" : `&cursor=${cursor}`;
      const { body } = await service.call("GET", `${path(own)}?limit=2${query}`);
      seen.push(...body.tokens);
      cursor = body.nextCursor;
    } while (cursor !== null);
    expect(seen.map((token) => token.id)).toEqual(ids);
    for (const token of seen) {
      expect(Object.keys(token).sort()).toEqual(
        ["id", "label", "scopes", "createdAt", "expiresAt", "lastUsedAt"].sort(),
      );
    }
  });

  test.each(["?limit=0", "?cursor=zzz", "?cursor=dG9rXw"])("400 for %s", async (query) => {
    expect((await service.call("GET", path() + query)).status).toBe(400);
  });
});

describe("DELETE token", () => {
  test("204 takes it off the list; 404 the second time", async () => {
    const { body } = await create(good);
    const address = `${path()}/${body.token.id}`;
    const answer = await service.call("DELETE", address);
    expect(answer.status).toBe(204);
    expect(answer.body).toBe("");
    const { body: list } = await service.call("GET", `${path()}?limit=200`);
    expect(list.tokens.map((token: { id: string }) => token.id)).not.toContain(body.token.id);
    expect((await service.call("DELETE", address)).status).toBe(404);
  });

  test("404 for another game's token, which stays good", async () => {
    const other = await createGame(service);
    const { body } = await create(good, other);
    expect((await service.call("DELETE", `${path()}/${body.token.id}`)).status).toBe(404);
    const used = await service.call("GET", `/api/games/${other}/leaderboards`, { token: body.accessToken });
    expect(used.status).toBe(200);
  });
});

test("403 for an access token on every operation on tokens: it cannot make or end tokens", async () => {
  const token = await createToken(service, gameId, "leaderboards:write", "webhooks:write");
  const { body: made } = await create(good);
  expect((await service.call("POST", path(), { token, body: good })).status).toBe(403);
  expect((await service.call("GET", path(), { token })).status).toBe(403);
  expect((await service.call("DELETE", `${path()}/${made.token.id}`, { token })).status).toBe(403);
});
