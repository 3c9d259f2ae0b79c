// The first keys of a service, how they are published, and how their private halves are kept.
import { createPrivateKey, type JsonWebKey, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { connect } from "../../src/database/connect.ts";
import { createIds } from "../../src/ids.ts";
import { ensureKeys } from "../../src/keys/ensure-keys.ts";
import { openPrivateKey } from "../../src/keys/signing-key.ts";
import { unseal } from "../../src/seal.ts";
import { StartupError } from "../../src/startup-error.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

interface StoredKey {
  readonly kid: string;
  readonly state: string;
  readonly publicJwk: JsonWebKey;
  readonly privateSealed: Buffer;
}

let service: TestService;
let keys: StoredKey[];

beforeAll(async () => {
  service = await startTestService({ authUrl: "https://auth.example.com/a/b" });
  keys = await service.database.sql<StoredKey[]>`
    SELECT kid, state, public_jwk, private_sealed FROM signing_keys ORDER BY state`;
});
afterAll(() => service.stop());

function keyIn(state: string): StoredKey {
  const key = keys.find((candidate) => candidate.state === state);
  if (key === undefined) throw new Error(`No key is ${state}.`);
  return key;
}

describe("the first start", () => {
  it("makes one key that signs and the next one", () => {
    expect(keys.map((key) => key.state)).toEqual(["ACTIVE", "NEXT"]);
    expect(service.app.keyring.active().kid).toBe(keyIn("ACTIVE").kid);
  });

  it("a later start makes no more", async () => {
    const { database, masterKey } = service;
    const again = await startTestService({ database, masterKey });
    await again.stop();
    const rows = await database.sql`SELECT kid, state FROM signing_keys ORDER BY state`;
    expect(rows).toEqual(keys.map(({ kid, state }) => ({ kid, state })));
  });

  it("several processes at once make exactly one of each between them", async () => {
    const database = await createTestDatabase({ keys: false });
    const masterKey = randomBytes(32);
    const pools = Array.from({ length: 3 }, () => connect(database.url, { poolSize: 1 }));
    try {
      const deps = { clock: systemClock, ids: createIds(systemClock, randomBytes), masterKey };
      await Promise.all(pools.map((sql) => ensureKeys(sql, deps)));
      const rows = await database.sql<StoredKey[]>`
        SELECT kid, state, private_sealed FROM signing_keys ORDER BY state`;
      expect(rows.map((row) => row.state)).toEqual(["ACTIVE", "NEXT"]);
      for (const row of rows) await expect(openPrivateKey(row, masterKey)).resolves.toBeDefined();
    } finally {
      await Promise.all(pools.map((sql) => sql.end()));
      await database.drop();
    }
  });
});

describe("GET /.well-known/jwks.json", () => {
  it("200 the public parts of both keys and nothing else", async () => {
    const { status, body } = await service.call("GET", "/.well-known/jwks.json", { token: null });
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(["keys"]);
    expect(new Set(body.keys.map((key: { kid: string }) => key.kid))).toEqual(
      new Set(keys.map((k) => k.kid)),
    );
    for (const key of body.keys) {
      expect(Object.keys(key).sort()).toEqual(["alg", "e", "kid", "kty", "n", "use"]);
      expect(key).toMatchObject({ kty: "RSA", alg: "RS256", use: "sig", e: "AQAB" });
      expect(Buffer.from(key.n, "base64url")).toHaveLength(256);
    }
  });

  it("200 with headers that let browsers and caches hold it for five minutes", async () => {
    const { headers } = await service.call("GET", "/.well-known/jwks.json", { token: null });
    expect(headers.get("cache-control")).toMatch(/^public, max-age=300\b/);
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("cross-origin-resource-policy")).toBe("cross-origin");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("200 below the path of the issuer's address as well, and to anyone", async () => {
    const plain = await service.call("GET", "/.well-known/jwks.json", { token: null });
    const below = await service.call("GET", "/a/b/.well-known/jwks.json", { token: "junk" });
    expect(below.status).toBe(200);
    expect(below.body).toEqual(plain.body);
  });

  it("404 below any other path", async () => {
    expect((await service.call("GET", "/a/.well-known/jwks.json", { token: null })).status).toBe(404);
  });
});

describe("a sealed private key", () => {
  const open =
    (key: StoredKey, boundTo: string, masterKey = service.masterKey) =>
    () =>
      unseal(masterKey, key.privateSealed, boundTo);

  it("opens with the master key for its own kid, and fits the published key", () => {
    const key = keyIn("ACTIVE");
    const privateKey = createPrivateKey(open(key, key.kid)().toString());
    expect(privateKey.asymmetricKeyDetails?.modulusLength).toBe(2048);
    expect(privateKey.export({ format: "jwk" })["n"]).toBe(key.publicJwk.n);
  });

  it("does not open with another master key", () => {
    const key = keyIn("ACTIVE");
    expect(open(key, key.kid, randomBytes(32))).toThrow();
  });

  it("does not open in another key's row", () => {
    expect(open(keyIn("ACTIVE"), keyIn("NEXT").kid)).toThrow();
  });

  it("holds nothing that can be read", () => {
    expect(keyIn("ACTIVE").privateSealed.toString("latin1")).not.toMatch(/PRIVATE KEY|BEGIN|MII/);
  });
});

describe("a start with the wrong master key", () => {
  const wrong = /^COINSLOT_MASTER_KEY does not open the signing keys in this database\. /;

  async function startAgain(database: TestDatabase, masterKey: Buffer): Promise<unknown> {
    return startTestService({ database, masterKey }).then(
      (started) => started.stop(),
      (error: unknown) => error,
    );
  }

  it("is refused in one clear line, and changes nothing", async () => {
    const error = await startAgain(service.database, randomBytes(32));
    expect(error).toBeInstanceOf(StartupError);
    expect(error).toHaveProperty("message", expect.stringMatching(wrong));
    expect(String(error)).not.toContain("\n");
    const rows = await service.database.sql`SELECT kid, state FROM signing_keys ORDER BY state`;
    expect(rows).toEqual(keys.map(({ kid, state }) => ({ kid, state })));
  });

  it("is refused when only the next key does not open, before a rotation makes it the only one", async () => {
    const { sql } = service.database;
    const next = keyIn("NEXT");
    await sql`UPDATE signing_keys SET private_sealed = ${keyIn("ACTIVE").privateSealed} WHERE kid = ${next.kid}`;
    const error = await startAgain(service.database, service.masterKey);
    await sql`UPDATE signing_keys SET private_sealed = ${next.privateSealed} WHERE kid = ${next.kid}`;
    expect(error).toBeInstanceOf(StartupError);
    expect(await startAgain(service.database, service.masterKey)).toBeUndefined();
  });
});
