// A signing key: how one is made, and the states it goes through.
import { createPublicKey, type KeyObject } from "node:crypto";
import { type CryptoKey, exportJWK, exportPKCS8, generateKeyPair, importPKCS8 } from "jose";
import type { Ids } from "../ids.ts";
import { seal, unseal } from "../seal.ts";

export const algorithm = "RS256";

/**
 * NEXT is published but signs nothing yet; ACTIVE signs; RETIRED is published so that its receipts verify for ever;
 * REVOKED is published no more. Private keys exist in NEXT and ACTIVE alone.
 */
export type SigningKeyState = "NEXT" | "ACTIVE" | "RETIRED" | "REVOKED";

/** The public half as it is stored and published. */
export interface PublicJwk {
  readonly kty: string;
  readonly n: string;
  readonly e: string;
  readonly kid: string;
  readonly alg: string;
  readonly use: string;
}

export interface SigningKeyRow {
  readonly kid: string;
  readonly state: SigningKeyState;
  readonly publicJwk: PublicJwk;
  readonly privateSealed: Buffer | null;
  readonly createdAt: Date;
}

export async function generateSigningKey(
  ids: Ids,
  masterKey: Buffer,
): Promise<{ kid: string; publicJwk: PublicJwk; privateSealed: Buffer }> {
  const kid = ids("key");
  const pair = await generateKeyPair(algorithm, { modulusLength: 2048, extractable: true });
  const { kty, n, e } = await exportJWK(pair.publicKey);
  if (kty === undefined || n === undefined || e === undefined)
    throw new Error("An RSA key without its parts.");
  const publicJwk = { kty, n, e, kid, alg: algorithm, use: "sig" };
  const privateSealed = seal(masterKey, Buffer.from(await exportPKCS8(pair.privateKey)), kid);
  return { kid, publicJwk, privateSealed };
}

export async function openPrivateKey(
  row: { kid: string; privateSealed: Buffer },
  masterKey: Buffer,
): Promise<CryptoKey> {
  return importPKCS8(unseal(masterKey, row.privateSealed, row.kid).toString(), algorithm);
}

export function importPublicKey({ kty, n, e }: PublicJwk): KeyObject {
  return createPublicKey({ format: "jwk", key: { kty, n, e } });
}
