// Receipts that are not in the one spelling in which the service writes tokens, and every single changed bit.
import { limits } from "@coinslot/contract";
import fc from "fast-check";
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
  refusal,
  splitToken,
  stateOf,
  stealActiveKey,
} from "./forgery-kit.ts";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

let service: TestService;
let bought: Bought;
let key: RealKey;
let head: string;
let body: string;
let signature: string;

beforeAll(async () => {
  service = await startTestService();
  bought = await buy(service);
  key = await stealActiveKey(service);
  [head, body, signature] = splitToken(bought.receiptJwt);
});
afterAll(() => service.stop());

const refuse = (receiptJwt: string) => expectRefused(service, bought, receiptJwt);

/** The same bytes in another spelling: the last letter carries bits that decoders drop. */
function withStrayBits(part: string): string {
  const spare = { 2: 4, 3: 2 }[part.length % 4];
  if (spare === undefined) throw new Error("Every bit of this part counts.");
  const last = alphabet.indexOf(part.at(-1) ?? "");
  const changed = part.slice(0, -1) + alphabet[last | 1];
  expect(Buffer.from(changed, "base64url")).toEqual(Buffer.from(part, "base64url"));
  expect(changed).not.toBe(part);
  return changed;
}

describe("POST /api/purchases/{purchaseId}/fulfill", () => {
  it("401 another number of parts", async () => {
    for (const token of [
      head,
      `${head}.${body}`,
      `${head}.${body}.`,
      `${head}..${signature}`,
      `.${body}.${signature}`,
      "..",
      ".",
      "....",
      `${head}.${body}.${signature}.`,
      `.${head}.${body}.${signature}`,
      `${head}.${body}.${signature}.${signature}`,
      `${head}.${body}.${signature}.${head}.${body}`,
      `${body}.${head}.${signature}`,
    ])
      await refuse(token);
  });

  it("401 white space and other characters before, in and after", async () => {
    for (const extra of [
      " ",
      "\n",
      "\r\n",
      "\t",
      "\u00a0",
      "\ufeff",
      "\u0000",
      "=",
      "+",
      "/",
      "%2E",
      "é",
      "😀",
    ])
      for (const token of [
        extra + bought.receiptJwt,
        bought.receiptJwt + extra,
        `${head}${extra}.${body}.${signature}`,
        `${head}.${extra}${body}.${signature}`,
        `${head}.${body}.${signature.slice(0, 9)}${extra}${signature.slice(9)}`,
      ])
        await refuse(token);
    await refuse(`Bearer ${bought.receiptJwt}`);
    await refuse(JSON.stringify(bought.receiptJwt));
  });

  it("401 padded parts", async () => {
    const pad = (part: string) => part + "=".repeat((4 - (part.length % 4)) % 4);
    for (const token of [
      `${head}=.${body}.${signature}`,
      `${head}.${body}=.${signature}`,
      `${head}.${body}.${pad(signature)}`,
      [head, body, signature].map(pad).join("."),
    ]) {
      expect(token).not.toBe(bought.receiptJwt);
      await refuse(token);
    }
  });

  it("401 the letters of standard base64", async () => {
    // A signature of 256 bytes is sure to hold one of the two letters that differ once it is signed often enough.
    let token = bought.receiptJwt;
    for (let n = 0; !/[-_]/.test(splitToken(token)[2]); n++)
      token = forge(headerOf(key), { ...claimsOf(bought.receiptJwt), n }, key.privateKey);
    const [first, second, third] = splitToken(token);
    await refuse(`${first}.${second}.${third.replaceAll("-", "+").replaceAll("_", "/")}`);
  });

  it("401 stray bits in the last letter of the signature, which decoders drop", async () => {
    await refuse(`${head}.${body}.${withStrayBits(signature)}`);
  });

  it("401 stray bits in the last letter of header or payload, even when they were signed", async () => {
    // White space inside the payload is tried out of the way first: its length decides whether there are spare bits.
    for (let filler = 0; filler < 3; filler++) {
      const claims = JSON.stringify({ ...claimsOf(bought.receiptJwt), filler: "x".repeat(filler) });
      if (base64url(claims).length % 4 === 0) continue;
      const stray = withStrayBits(base64url(claims));
      const token = forge(headerOf(key), claims, key.privateKey);
      const [first, , third] = splitToken(token);
      await refuse(`${first}.${stray}.${third}`);
    }
  });

  it("401 a signature of another length", async () => {
    const bytes = Buffer.from(signature, "base64url");
    for (const changed of [
      bytes.subarray(0, 255),
      bytes.subarray(1),
      Buffer.concat([bytes, Buffer.from([0])]),
      Buffer.concat([Buffer.from([0]), bytes]),
      Buffer.alloc(256),
      Buffer.alloc(256, 255),
      Buffer.from([1]),
    ])
      await refuse(`${head}.${body}.${base64url(changed)}`);
  });

  it("401 a receipt over the size limit, signed with the real key; 200 one just under it", async () => {
    const sized = (filler: number) =>
      forge(headerOf(key), { ...claimsOf(bought.receiptJwt), filler: "x".repeat(filler) }, key.privateKey);
    let filler = 0;
    while (sized(filler + 100).length <= limits.receiptMaxChars) filler += 100;
    while (sized(filler + 1).length <= limits.receiptMaxChars) filler += 1;
    await refuse(sized(filler + 1));
    await refuse(sized(filler + 10_000));
    await refuse("A".repeat(60_000));
    const other = await buy(service);
    const fits = { ...claimsOf(other.receiptJwt), filler: "x".repeat(filler - 200) };
    const answer = await fulfill(service, other.purchaseId, forge(headerOf(key), fits, key.privateKey));
    expect(answer.body).toEqual({ status: "FULFILLED" });
  });

  it.each([0, 1, 2])("401 any one bit changed in part %i", async (part) => {
    const parts = splitToken(bought.receiptJwt);
    const original = Buffer.from(parts[part] ?? "", "base64url");
    await fc.assert(
      fc.asyncProperty(fc.nat(original.length * 8 - 1), async (bit) => {
        const changed = Buffer.from(original);
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const token = parts.with(part, base64url(changed)).join(".");
        const answer = await fulfill(service, bought.purchaseId, token);
        expect(answer).toMatchObject({ status: 401, body: refusal });
      }),
      { numRuns: 200 },
    );
    expect(await stateOf(service, bought)).toBe("COMPLETED");
  });

  it("401 any one letter of the receipt changed, dropped or doubled", async () => {
    const edit = fc.record({
      at: fc.nat(bought.receiptJwt.length - 1),
      letter: fc.constantFrom(...alphabet, "."),
      drop: fc.nat(1),
    });
    await fc.assert(
      fc.asyncProperty(edit, async ({ at, letter, drop }) => {
        const token = bought.receiptJwt.slice(0, at) + letter + bought.receiptJwt.slice(at + drop);
        fc.pre(token !== bought.receiptJwt);
        expect((await fulfill(service, bought.purchaseId, token)).status).toBe(401);
      }),
      { numRuns: 200 },
    );
    expect(await stateOf(service, bought)).toBe("COMPLETED");
  });

  it("200 the untouched receipt", async () => {
    const answer = await fulfill(service, bought.purchaseId, bought.receiptJwt);
    expect(answer.body).toEqual({ status: "FULFILLED" });
  });
});
