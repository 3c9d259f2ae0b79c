// The form of a token: junk and typing mistakes are told by the checksum, without asking the database.
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hashCredential } from "../../src/http/callers.ts";
import { looksLikeAccessToken, makeToken } from "../../src/tokens/access-token.ts";

const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 });
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

describe("access token", () => {
  test("every secret makes a token of one length that is recognised, and no two secrets the same one", () => {
    fc.assert(
      fc.property(secrets, secrets, (one, other) => {
        const token = makeToken("cst_", () => one);
        expect(token).toMatch(/^cst_[0-9A-Za-z]{49}$/);
        expect(looksLikeAccessToken(token)).toBe(true);
        const same = Buffer.from(one).equals(Buffer.from(other));
        expect(makeToken("cst_", () => other) === token).toBe(same);
      }),
    );
  });

  test.each([0, 255])("thirty-two bytes of %d make one too", (byte) => {
    const token = makeToken("cst_", () => new Uint8Array(32).fill(byte));
    expect(token).toHaveLength(53);
    expect(looksLikeAccessToken(token)).toBe(true);
  });

  test("asks for 32 random bytes", () => {
    const asked: number[] = [];
    makeToken("cst_", (size) => {
      asked.push(size);
      return new Uint8Array(size);
    });
    expect(asked).toEqual([32]);
  });

  test("one character typed wrong is always told", () => {
    fc.assert(
      fc.property(
        secrets,
        fc.integer({ min: 4, max: 52 }),
        fc.constantFrom(...base62),
        (secret, at, char) => {
          const token = makeToken("cst_", () => secret);
          fc.pre(token[at] !== char);
          expect(looksLikeAccessToken(token.slice(0, at) + char + token.slice(at + 1))).toBe(false);
        },
      ),
    );
  });

  test("an operator token is not an access token", () => {
    expect(looksLikeAccessToken(makeToken("cso_", (size) => new Uint8Array(size)))).toBe(false);
  });

  test("what is stored is the SHA-256 of the whole token", () => {
    const token = makeToken("cst_", (size) => new Uint8Array(size).fill(7));
    expect(hashCredential(token)).toEqual(createHash("sha256").update(token).digest());
  });
});
