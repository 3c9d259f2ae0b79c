// Identifiers made by the program: a prefix, 48 bits of time and 80 random bits, sortable by time.
import type { Clock } from "./clock.ts";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const timeChars = 10;

export type IdPrefix = "game" | "lb" | "pur" | "evt" | "dlv" | "tok" | "req" | "key" | "ut";
export type Ids = (prefix: IdPrefix) => string;

function encode(bits: bigint, chars: number): string {
  let rest = bits;
  let out = "";
  for (let i = 0; i < chars; i++) {
    out = alphabet[Number(rest & 31n)] + out;
    rest >>= 5n;
  }
  return out;
}

export function createIds(clock: Clock, randomBytes: (size: number) => Uint8Array): Ids {
  return (prefix) => {
    const random = randomBytes(16);
    let tail = "";
    // Five of the eight bits of each of sixteen bytes: 80 random bits.
    for (const byte of random) tail += alphabet[byte & 31];
    return `${prefix}_${encode(BigInt(clock.nowMs()), timeChars)}${tail}`;
  };
}
