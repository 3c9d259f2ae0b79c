// Sealing: opens only with the same master key, the same binding and every bit in place.
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seal, unseal } from "./seal.ts";

const masterKey = randomBytes(32);
const bytes = fc.uint8Array({ maxLength: 200 });

describe("seal", () => {
  it("opens to what was sealed, whatever it was and whatever it is bound to", () => {
    fc.assert(
      fc.property(bytes, fc.string({ unit: "grapheme" }), (plain, boundTo) => {
        expect(unseal(masterKey, seal(masterKey, plain, boundTo), boundTo)).toEqual(Buffer.from(plain));
      }),
    );
  });

  it("does not open with another key, for another binding, or with any one bit changed", () => {
    fc.assert(
      fc.property(bytes, fc.nat(), (plain, at) => {
        const sealed = seal(masterKey, plain, "kid-1");
        expect(() => unseal(randomBytes(32), sealed, "kid-1")).toThrow();
        expect(() => unseal(masterKey, sealed, "kid-2")).toThrow();
        expect(() => unseal(masterKey, sealed, "")).toThrow();
        const bit = at % (sealed.length * 8);
        sealed[bit >> 3] = (sealed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(() => unseal(masterKey, sealed, "kid-1")).toThrow();
      }),
    );
  });

  it("does not open when cut short, down to nothing, so that a short tag is never accepted", () => {
    const sealed = seal(masterKey, Buffer.from("secret"), "kid");
    for (let length = 0; length < sealed.length; length++)
      expect(() => unseal(masterKey, sealed.subarray(0, length), "kid")).toThrow();
    expect(() => unseal(masterKey, Buffer.concat([sealed, Buffer.alloc(1)]), "kid")).toThrow();
  });

  it("never seals alike twice, and shows nothing of what is inside", () => {
    const plain = Buffer.from("-----BEGIN PRIVATE KEY-----");
    const sealed = Array.from({ length: 50 }, () => seal(masterKey, plain, "kid"));
    expect(new Set(sealed.map((one) => one.subarray(0, 12).toString("hex"))).size).toBe(50);
    for (const one of sealed) expect(one.includes(plain.subarray(0, 8))).toBe(false);
  });
});
