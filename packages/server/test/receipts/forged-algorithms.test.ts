// Receipts whose algorithm is not RS256, even when the service's own key made them.
import { constants, createHmac, type KeyObject, sign } from "node:crypto";
import { receiptTyp } from "@coinslot/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bought, buy } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import {
  base64url,
  claimsOf,
  expectRefused,
  forge,
  fulfill,
  headerOf,
  type RealKey,
  signingInput,
  splitToken,
  stateOf,
  stealActiveKey,
} from "./forgery-kit.ts";

let service: TestService;
let bought: Bought;
let key: RealKey;

beforeAll(async () => {
  service = await startTestService();
  bought = await buy(service);
  key = await stealActiveKey(service);
});
afterAll(() => service.stop());

const withAlg = (alg: unknown) => ({ ...headerOf(key), alg });
const append = (input: string, signature: Uint8Array) => `${input}.${base64url(signature)}`;

describe("POST /api/purchases/{purchaseId}/fulfill", () => {
  describe.each(["none", "None", "NONE", "nOnE", "", " none", "null"])("401 alg %j", (alg) => {
    it("without a signature, with junk for one, and with the real one", async () => {
      const input = signingInput(withAlg(alg), claimsOf(bought.receiptJwt));
      const [, , realSignature] = splitToken(bought.receiptJwt);
      for (const signature of ["", "AA", "bm9uZQ", realSignature])
        await expectRefused(service, bought, `${input}.${signature}`);
      await expectRefused(service, bought, input);
      await expectRefused(service, bought, forge(withAlg(alg), claimsOf(bought.receiptJwt), key.privateKey));
    });
  });

  it.each([null, 0, true, [], ["RS256"], { alg: "RS256" }, "RS-256", "rs256", "Rs256", "RS256 ", "RS1"])(
    "401 alg %j with a real RS256 signature",
    async (alg) => {
      await expectRefused(service, bought, forge(withAlg(alg), claimsOf(bought.receiptJwt), key.privateKey));
    },
  );

  it("401 no alg at all", async () => {
    const header = { typ: receiptTyp, kid: key.kid };
    await expectRefused(service, bought, forge(header, claimsOf(bought.receiptJwt), key.privateKey));
  });

  it("401 HS256, HS384 and HS512 with the public key, in any of its spellings, as the secret", async () => {
    const pem = key.publicKey.export({ type: "spki", format: "pem" }).toString();
    const { n = "", e = "" } = key.publicJwk;
    const response = await fetch(`${service.url}/.well-known/jwks.json`);
    const published = await response.text();
    const secrets: (string | Buffer)[] = [
      pem,
      pem.trim(),
      pem.replaceAll("\n", "\r\n"),
      key.publicKey.export({ type: "pkcs1", format: "pem" }).toString(),
      key.publicKey.export({ type: "spki", format: "der" }),
      key.publicKey.export({ type: "pkcs1", format: "der" }),
      JSON.stringify(key.publicJwk),
      published,
      n,
      Buffer.from(n, "base64url"),
      e,
      key.kid,
      "",
    ];
    for (const [alg, hash] of [
      ["HS256", "sha256"],
      ["HS384", "sha384"],
      ["HS512", "sha512"],
    ] as const) {
      const input = signingInput(withAlg(alg), claimsOf(bought.receiptJwt));
      for (const secret of secrets) {
        const signature = createHmac(hash, secret).update(input).digest();
        await expectRefused(service, bought, append(input, signature));
      }
    }
    // The same secrets under the right name for the algorithm fare no better.
    const input = signingInput(headerOf(key), claimsOf(bought.receiptJwt));
    for (const secret of secrets)
      await expectRefused(
        service,
        bought,
        append(input, createHmac("sha256", secret).update(input).digest()),
      );
  });

  const signPss = (hash: string, saltLength: number) => (input: Buffer, privateKey: KeyObject) =>
    sign(hash, input, { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength });
  const signPkcs = (hash: string) => (input: Buffer, privateKey: KeyObject) => sign(hash, input, privateKey);
  const otherRsa = [
    ["RS384", signPkcs("sha384")],
    ["RS512", signPkcs("sha512")],
    ["PS256", signPss("sha256", 32)],
    ["PS384", signPss("sha384", 48)],
    ["PS512", signPss("sha512", 64)],
    ["RS1", signPkcs("sha1")],
  ] as const;

  it.each(otherRsa)("401 %s made with the service's own private key", async (alg, make) => {
    const input = signingInput(withAlg(alg), claimsOf(bought.receiptJwt));
    await expectRefused(service, bought, append(input, make(Buffer.from(input), key.privateKey)));
  });

  it.each(otherRsa)("401 a real %s signature under the name RS256", async (_alg, make) => {
    const input = signingInput(headerOf(key), claimsOf(bought.receiptJwt));
    await expectRefused(service, bought, append(input, make(Buffer.from(input), key.privateKey)));
  });

  it("200 RS256 over the same claims with the same key: the forgeries above failed for their algorithm alone", async () => {
    const token = forge(headerOf(key), claimsOf(bought.receiptJwt), key.privateKey);
    expect((await fulfill(service, bought.purchaseId, token)).body).toEqual({ status: "FULFILLED" });
    expect(await stateOf(service, bought)).toBe("FULFILLED");
  });
});
