// One TLS connection for its whole life: requests go over it one after the other, and it is never re-made.
import type { TLSSocket } from "node:tls";
import { Client } from "undici";
import { type ResponseTap, tapResponses } from "./response-tap.ts";
import { idleMaxMs, responseHeadersMaxBytes } from "./sending-limits.ts";

export interface Connection {
  readonly origin: string;
  readonly client: Client;
  readonly socket: TLSSocket;
  readonly tap: ResponseTap;
  readonly openedAtMs: number;
  idleSinceMs: number;
  requestCount: number;
}

export function createConnection(origin: string, socket: TLSSocket, openedAtMs: number): Connection {
  let handedOver = false;
  const client = new Client(origin, {
    // undici would connect again by itself, past the guard. It gets this socket, once.
    connect: (_options, callback) => {
      const isLate = handedOver || socket.destroyed;
      handedOver = true;
      // Later: undici does not go on by itself when it is called back at once.
      queueMicrotask(() => (isLate ? callback(closedError(), null) : callback(null, socket)));
    },
    pipelining: 1,
    maxHeaderSize: responseHeadersMaxBytes,
    // The attempt has its own clock, from the name lookup on.
    headersTimeout: 0,
    bodyTimeout: 0,
    // Shorter when the receiver's Keep-Alive header says so.
    keepAliveTimeout: idleMaxMs,
    keepAliveMaxTimeout: idleMaxMs,
    keepAliveTimeoutThreshold: 1_000,
  });
  return {
    origin,
    client,
    socket,
    tap: tapResponses(socket),
    openedAtMs,
    idleSinceMs: openedAtMs,
    requestCount: 0,
  };
}

function closedError(): Error {
  return Object.assign(new Error("closed"), { code: "ECONNRESET" });
}
