// Sees every decrypted byte that a socket answers before the HTTP parser does: counts them, stops a flood, and makes
// an unasked-for "100 Continue" harmless.
import type { TLSSocket } from "node:tls";
import { responseMaxBytes } from "./sending-limits.ts";

export interface ResponseTap {
  /** Bytes of the current answer. `socket.bytesRead` would not do: it counts TLS records, alerts included. */
  bytes: number;
  flooded: boolean;
}

const digitOne = 0x31;
const continueHead = /^HTTP\/1\.[01] 100[ \r]/;
const headEnd = Buffer.from("\r\n\r\n");

export function tapResponses(socket: TLSSocket): ResponseTap {
  const tap: ResponseTap = { bytes: 0, flooded: false };
  const read = socket.read;
  socket.read = (size?: number) => {
    const chunk: Buffer | null = read.call(socket, size);
    if (chunk === null) return null;
    if (chunk[9] === digitOne) renameContinues(chunk);
    tap.bytes += chunk.length;
    if (tap.bytes > responseMaxBytes && !tap.flooded) {
      tap.flooded = true;
      // Not now: the parser still holds this chunk.
      process.nextTick(() => socket.destroy());
    }
    return chunk;
  };
  return tap;
}

/**
 * HTTP obliges a client to skip a 100 it did not ask for; undici 7 ends the connection instead, but skips a 102. So the
 * last digit is changed in place while a chunk begins with such a head.
 */
function renameContinues(chunk: Buffer): void {
  let at = 0;
  while (at >= 0 && continueHead.test(chunk.toString("latin1", at, at + 13))) {
    chunk[at + 11] = 0x32;
    const end = chunk.indexOf(headEnd, at);
    at = end < 0 ? -1 : end + headEnd.length;
  }
}
