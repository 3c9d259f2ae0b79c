// The form of an access token: `cst_`, 32 random bytes and a checksum, all in base62.
import { crc32 } from "node:zlib";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const secretChars = 43;
const checksumChars = 6;

/** `cst_` for a game's access token, `cso_` for the operator token that the service makes for itself. */
export type TokenPrefix = "cst_" | "cso_";

function toBase62(bytes: Uint8Array, chars: number): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
  let out = "";
  for (let i = 0; i < chars; i++) {
    out = alphabet[Number(rest % 62n)] + out;
    rest /= 62n;
  }
  return out;
}

function checksum(body: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(body));
  return toBase62(bytes, checksumChars);
}

export function makeToken(prefix: TokenPrefix, randomBytes: (size: number) => Uint8Array): string {
  const body = prefix + toBase62(randomBytes(32), secretChars);
  return body + checksum(body);
}

const form = new RegExp(`^cst_[0-9A-Za-z]{${secretChars + checksumChars}}$`);

/** Whether the text can be an access token at all: a typing mistake or junk is told without asking the database. */
export function looksLikeAccessToken(text: string): boolean {
  return form.test(text) && checksum(text.slice(0, -checksumChars)) === text.slice(-checksumChars);
}
