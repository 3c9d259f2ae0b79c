// Signs a token of the service with the active key. The RSA work is done by WebCrypto, off the main thread.
import { CompactSign } from "jose";
import type { SigningKey } from "./keyring.ts";
import { algorithm } from "./signing-key.ts";

const encoder = new TextEncoder();

export function signToken(key: SigningKey, typ: string, claims: object): Promise<string> {
  return new CompactSign(encoder.encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg: algorithm, typ, kid: key.kid })
    .sign(key.privateKey);
}
