// Keeps the beginning of a response body for the log, as text that a database can store.
import { responseBodyKeepBytes } from "./sending-limits.ts";

export interface KeptBody {
  /** False when there was more than is kept. */
  add(chunk: Buffer): boolean;
  /** Nothing is ever decompressed: a compressed body shows as what came over the wire. */
  text(complete: boolean): string;
}

export function keepBody(): KeptBody {
  const chunks: Buffer[] = [];
  let keptBytes = 0;
  return {
    add(chunk) {
      const room = responseBodyKeepBytes - keptBytes;
      // A copy: the chunk is a view of a larger buffer, which would stay alive with it.
      if (room > 0) chunks.push(Buffer.from(chunk.subarray(0, room)));
      keptBytes += Math.min(chunk.length, room);
      return chunk.length <= room;
    },
    text(complete) {
      if (keptBytes === 0) return "";
      // A character that was cut in half at the end is left out rather than shown as broken.
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.concat(chunks), {
        stream: !complete,
      });
      // PostgreSQL's text cannot hold a zero byte.
      return text.replaceAll("\0", "\ufffd");
    },
  };
}
