// Signs a token of the service with the active key. The RSA work is done by WebCrypto, off the main thread.
import { CompactSign } from "jose";
import type { SigningKey } from "./keyring.ts";
import { algorithm } from "./signing-key.ts";

const encoder = new TextEncoder();

export function signToken(key: SigningKey, typ: string, claims: object): Promise<string> {
  return new CompactSign(encoder.encode(JSON.stringify(claims)))
    .setProtectedHeader(headerOf(typ, key.kid))
    .sign(key.privateKey);
}

function headerOf(typ: string, kid: string) {
  return { alg: algorithm, typ, kid };
}

/** The first part of every token of this type that the key signs. */
export function encodeHead(typ: string, kid: string): string {
  return Buffer.from(JSON.stringify(headerOf(typ, kid))).toString("base64url");
}
