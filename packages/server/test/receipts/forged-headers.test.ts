// Receipts whose header says something else, or more, than ours do.
import { generateKeyPairSync } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { receiptTyp, userTokenTyp } from "@coinslot/contract";
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
  stealActiveKey,
} from "./forgery-kit.ts";

const attacker = generateKeyPairSync("rsa", { modulusLength: 2048 });
const attackerJwk = attacker.publicKey.export({ format: "jwk" });
const attackerDer = attacker.publicKey.export({ format: "der", type: "spki" }).toString("base64");

let service: TestService;
let bought: Bought;
let key: RealKey;
/** The attacker's own key server: a token must never make the service call it. */
let keyServer: Server;
let keyServerUrl: string;
let fetches = 0;

beforeAll(async () => {
  service = await startTestService();
  bought = await buy(service);
  key = await stealActiveKey(service);
  keyServer = createServer((_request, response) => {
    fetches++;
    response.end(JSON.stringify({ keys: [{ ...attackerJwk, kid: key.kid, alg: "RS256", use: "sig" }] }));
  });
  await new Promise<void>((resolve) => keyServer.listen(0, "127.0.0.1", resolve));
  keyServerUrl = `http://127.0.0.1:${(keyServer.address() as AddressInfo).port}/jwks.json`;
});
afterAll(async () => {
  keyServer.close();
  await service.stop();
});

const refuse = (header: unknown, signer = key.privateKey) =>
  expectRefused(service, bought, forge(header, claimsOf(bought.receiptJwt), signer));

describe("POST /api/purchases/{purchaseId}/fulfill", () => {
  it.each([
    undefined,
    null,
    "",
    "JWT",
    "jwt",
    "at+jwt",
    userTokenTyp,
    receiptTyp.toUpperCase(),
    "Service-Purchase+JWT",
    "service-purchase+JWT",
    `application/${receiptTyp}`,
    ` ${receiptTyp}`,
    `${receiptTyp} `,
    `${receiptTyp}\u0000`,
    "service-purchase",
    "service-purchase jwt",
    [receiptTyp],
    { typ: receiptTyp },
    1,
  ])("401 typ %j, signed with the real key", async (typ) => {
    const { typ: _real, ...rest } = headerOf(key);
    await refuse(typ === undefined ? rest : { ...rest, typ });
  });

  it.each([
    "key_0123456789abcdefghjkmnpqrs",
    "",
    "../../../../dev/null",
    "..\\..\\secret.pem",
    "/proc/self/environ",
    "' OR '1'='1",
    "x' UNION SELECT 'AA' --",
    "*",
    "%",
    "\u0000",
    "__proto__",
    "constructor",
    "toString",
    "| cat /etc/hostname",
    "k".repeat(4_000),
  ])("401 unknown kid %j", async (kid) => {
    const header = { ...headerOf(key), kid };
    await refuse(header);
    await refuse(header, attacker.privateKey);
  });

  it.each([undefined, null, 0, 1, true, [], {}])("401 kid %j", async (kid) => {
    const { kid: _real, ...rest } = headerOf(key);
    await refuse(kid === undefined ? rest : { ...rest, kid });
  });

  it("401 the real kid inside another value, or with other letters", async () => {
    for (const kid of [
      [key.kid],
      { kid: key.kid },
      ` ${key.kid}`,
      `${key.kid}\u0000`,
      key.kid.toUpperCase(),
      key.kid.slice(0, -1),
      `${key.kid}'--`,
    ])
      await refuse({ ...headerOf(key), kid });
  });

  it("401 the kid of the next key, which has not signed anything yet", async () => {
    const [next] = await service.database.sql<{ kid: string }[]>`
      SELECT kid FROM signing_keys WHERE state = 'NEXT'`;
    await refuse({ ...headerOf(key), kid: next?.kid });
  });

  const extras: [name: string, value: () => unknown][] = [
    ["jwk", () => ({ ...attackerJwk, kid: key.kid })],
    ["jku", () => keyServerUrl],
    ["x5u", () => keyServerUrl],
    ["x5c", () => [attackerDer]],
    ["x5t", () => "dGVzdA"],
    ["x5t#S256", () => "dGVzdA"],
    ["crit", () => ["exp"]],
    ["crit", () => []],
    ["crit", () => ["b64"]],
    ["b64", () => false],
    ["b64", () => true],
    ["cty", () => "JWT"],
    ["zip", () => "DEF"],
    ["enc", () => "A256GCM"],
    ["epk", () => attackerJwk],
    ["iss", () => "http://localhost:4000"],
    ["url", () => keyServerUrl],
    ["nonce", () => "1"],
    ["__proto__", () => ({ alg: "RS256" })],
  ];
  it.each(extras)("401 %s in the header, signed by an attacker and by the real key", async (name, value) => {
    // Written by hand, so that a name such as __proto__ is a field like any other.
    const text = JSON.stringify(headerOf(key));
    const header = `${text.slice(0, -1)},${JSON.stringify(name)}:${JSON.stringify(value())}}`;
    await refuse(header, attacker.privateKey);
    await refuse(header);
    // With a key of the attacker's own naming.
    await refuse(header.replace(key.kid, "attacker-key"), attacker.privateKey);
  });

  it("401 an unencoded payload under b64 false", async () => {
    const header = { ...headerOf(key), b64: false, crit: ["b64"] };
    await refuse(header);
    await refuse(header, attacker.privateKey);
  });

  it("401 the real header and claims signed by an attacker", async () => {
    await refuse(headerOf(key), attacker.privateKey);
  });

  it("never fetches a key from an address in a token", () => {
    expect(fetches).toBe(0);
  });

  it.each([
    ["alg", "none"],
    ["alg", "RS256"],
    ["typ", "JWT"],
    ["typ", receiptTyp],
    ["kid", "another"],
  ])("401 %s twice in the header, the other time %j, in either order", async (name, value) => {
    const text = JSON.stringify(headerOf(key));
    const field = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
    await refuse(`{${field},${text.slice(1)}`);
    await refuse(`${text.slice(0, -1)},${field}}`);
    // The same field spelt with an escape.
    const escaped = field.replace(
      /^"(.)/,
      (_all, first: string) => `"\\u00${first.charCodeAt(0).toString(16)}`,
    );
    await refuse(`${text.slice(0, -1)},${escaped}}`);
  });

  it.each(["[]", "null", "1", '"RS256"', "", "{", "{}", "{}{}", "\ufeff{}", "undefined"])(
    "401 the header %j",
    async (header) => {
      await refuse(header);
    },
  );

  it("200 the same header in our own spelling, signed with the real key: the forgeries failed for what they changed", async () => {
    const token = forge(headerOf(key), claimsOf(bought.receiptJwt), key.privateKey);
    expect((await fulfill(service, bought.purchaseId, token)).body).toEqual({ status: "FULFILLED" });
  });
});
