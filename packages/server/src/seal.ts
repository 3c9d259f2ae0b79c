// Seals small secrets for the database: AES-256-GCM under the master key, bound to what they belong to.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const algorithm = "aes-256-gcm";
const ivBytes = 12;
const tagBytes = 16;

/** `boundTo` (a kid, say) must be given again to open: a sealed value copied to another row does not open there. */
export function seal(masterKey: Buffer, plain: Uint8Array, boundTo: string): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, masterKey, iv, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(boundTo));
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

/** Throws when the master key, the binding or a single bit is not what it was. */
export function unseal(masterKey: Buffer, sealed: Uint8Array, boundTo: string): Buffer {
  const iv = sealed.subarray(0, ivBytes);
  const decipher = createDecipheriv(algorithm, masterKey, iv, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(boundTo));
  decipher.setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes));
  return Buffer.concat([decipher.update(sealed.subarray(ivBytes + tagBytes)), decipher.final()]);
}
