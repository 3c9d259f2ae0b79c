// What a forger works with: tokens put together byte by byte, and for the worst case the service's own private key.
import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject, sign } from "node:crypto";
import { receiptTyp } from "@coinslot/contract";
import { expect } from "vitest";
import { unseal } from "../../src/seal.ts";
import type { Bought } from "../support/seed.ts";
import type { Answer, TestService } from "../support/test-service.ts";

export interface RealKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly publicJwk: JsonWebKey;
}

/** The key that signs, opened as only the holder of the master key can. */
export async function stealActiveKey(service: TestService): Promise<RealKey> {
  const [row] = await service.database.sql<{ kid: string; publicJwk: JsonWebKey; privateSealed: Buffer }[]>`
    SELECT kid, public_jwk, private_sealed FROM signing_keys WHERE state = 'ACTIVE'`;
  if (row === undefined) throw new Error("No signing key is active.");
  return {
    kid: row.kid,
    privateKey: createPrivateKey(unseal(service.masterKey, row.privateSealed, row.kid).toString()),
    publicKey: createPublicKey({ key: row.publicJwk, format: "jwk" }),
    publicJwk: row.publicJwk,
  };
}

export function base64url(value: string | Uint8Array): string {
  return Buffer.from(value).toString("base64url");
}

/** Header and payload as they are given: text is taken byte for byte, anything else is written as JSON. */
export function signingInput(header: unknown, payload: unknown): string {
  const write = (part: unknown) => base64url(typeof part === "string" ? part : JSON.stringify(part));
  return `${write(header)}.${write(payload)}`;
}

/** A token with an RS256 signature over exactly these bytes. */
export function forge(header: unknown, payload: unknown, key: KeyObject): string {
  const input = signingInput(header, payload);
  return `${input}.${base64url(sign("sha256", Buffer.from(input), key))}`;
}

export function headerOf(key: { kid: string }): Record<string, unknown> {
  return { alg: "RS256", typ: receiptTyp, kid: key.kid };
}

export function splitToken(token: string): [head: string, body: string, signature: string] {
  const [head = "", body = "", signature = ""] = token.split(".");
  return [head, body, signature];
}

export function readPart(part: string | undefined): Record<string, unknown> {
  return JSON.parse(Buffer.from(part ?? "", "base64url").toString());
}

export function claimsOf(token: string): Record<string, unknown> {
  return readPart(splitToken(token)[1]);
}

export function kidOf(token: string): unknown {
  return readPart(splitToken(token)[0])["kid"];
}

export function fulfill(service: TestService, purchaseId: string, receiptJwt: unknown): Promise<Answer> {
  return service.call("POST", `/api/purchases/${purchaseId}/fulfill`, { token: null, body: { receiptJwt } });
}

export async function stateOf(service: TestService, bought: Bought): Promise<string | undefined> {
  const [row] = await service.database.sql<{ state: string }[]>`
    SELECT state FROM purchases WHERE game_id = ${bought.gameId} AND purchase_id = ${bought.purchaseId}`;
  return row?.state;
}

/** The receipt with another signature. */
export function brokenReceipt(token: string): string {
  const [head, body, signature] = splitToken(token);
  return `${head}.${body}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;
}

export const refusal = { error: "The receipt does not verify.", code: "unauthorized" };

/** Offers the receipt for its purchase: 401, the same words whatever was wrong, and nothing has changed. */
export async function expectRefused(service: TestService, bought: Bought, receiptJwt: string): Promise<void> {
  const { status, body } = await fulfill(service, bought.purchaseId, receiptJwt);
  expect({ status, body }).toEqual({ status: 401, body: refusal });
  expect(await stateOf(service, bought)).toBe("COMPLETED");
}
