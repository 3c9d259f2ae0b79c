// Identifiers made by the program: a prefix, 48 bits of time and 80 random bits, sortable by time.
import type { Clock } from "./clock.ts";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const timeChars = 10;

export type IdPrefix = "game" | "lb" | "pur" | "evt" | "dlv" | "tok" | "req" | "key" | "ut" | "lease";
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

const idBytes = 16;
/** Random bytes are asked for by the page: asking for sixteen at a time was 2 % of the main thread under load. */
const poolBytes = 256 * idBytes;

export function createIds(clock: Clock, randomBytes: (size: number) => Uint8Array): Ids {
  let pool: Uint8Array = new Uint8Array(0);
  let used = 0;
  let timeMs = Number.NaN;
  let time = "";
  return (prefix) => {
    if (used + idBytes > pool.length) {
      pool = randomBytes(poolBytes);
      used = 0;
    }
    const nowMs = clock.nowMs();
    if (nowMs !== timeMs) {
      timeMs = nowMs;
      time = encode(BigInt(nowMs), timeChars);
    }
    let tail = "";
    // Five of the eight bits of each of sixteen bytes: 80 random bits.
    for (const byte of pool.subarray(used, used + idBytes)) tail += alphabet[byte & 31];
    used += idBytes;
    return `${prefix}_${time}${tail}`;
  };
}
