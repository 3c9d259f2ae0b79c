// A TLS receiver on loopback for tests, programmable down to the bytes it answers, and what it saw.
import { type Server, Socket } from "node:net";
import tls from "node:tls";
import { type Authority, createAuthority, type Issued } from "./make-certificate.ts";

export interface ReceivedRequest {
  /** Head and body as they came over the wire. */
  readonly raw: string;
  readonly head: string;
  readonly body: string;
  /** Counted over the receiver's life, from 1. */
  readonly number: number;
  /** Counted on this connection, from 1. */
  readonly numberOnConnection: number;
}

export type Behaviour = (socket: tls.TLSSocket, request: ReceivedRequest) => void;

export interface ReceiverOptions {
  readonly behave?: Behaviour;
  readonly host?: string;
  readonly certificate?: Issued;
  /** Called for each connection once its handshake is complete, before any request. */
  readonly onSecure?: (socket: tls.TLSSocket) => void;
}

export interface Receiver {
  readonly port: number;
  readonly requests: readonly ReceivedRequest[];
  /** Connections on the level of TCP, with or without a handshake. */
  readonly connectionCount: () => number;
  readonly openCount: () => number;
  readonly url: (path?: string, hostname?: string) => string;
  readonly dropConnections: () => void;
  readonly close: () => Promise<void>;
}

export const testAuthority: Authority = createAuthority();

const defaultCertificate = testAuthority.issue({ names: ["receiver.test", "*.receiver.test", "127.0.0.1"] });

export function answer(status: number, headers: Record<string, string> = {}, body = ""): Behaviour {
  return (socket) => {
    const lines = Object.entries({ ...headers, "content-length": String(Buffer.byteLength(body)) });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    socket.write(`HTTP/1.1 ${status} Whatever\r\n${head}\r\n${body}`);
  };
}

/** For answers that are broken on purpose. */
export function answerBytes(bytes: string | Buffer, end = false): Behaviour {
  return (socket) => {
    socket.write(bytes);
    if (end) socket.end();
  };
}

/** Ends a connection with RST, below TLS. */
export function reset(socket: tls.TLSSocket): void {
  const below: unknown = Reflect.get(socket, "_parent");
  if (!(below instanceof Socket)) throw new Error("no socket below TLS");
  below.resetAndDestroy();
}

/** Starts a server on loopback and answers its port. */
export async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const { behave = answer(200), host = "127.0.0.1", certificate = defaultCertificate } = options;
  const requests: ReceivedRequest[] = [];
  const open = new Set<Socket>();
  let connectionCount = 0;

  const server = tls.createServer({ key: certificate.key, cert: certificate.cert }, (socket) => {
    let pending = Buffer.alloc(0);
    let numberOnConnection = 0;
    socket.on("error", () => undefined);
    options.onSecure?.(socket);
    socket.on("data", (chunk) => {
      pending = Buffer.concat([pending, chunk]);
      for (let length = requestLength(pending); length !== null; length = requestLength(pending)) {
        const raw = pending.subarray(0, length).toString("latin1");
        pending = pending.subarray(length);
        numberOnConnection += 1;
        const split = raw.indexOf("\r\n\r\n") + 4;
        const number = requests.length + 1;
        const request = {
          raw,
          head: raw.slice(0, split),
          body: raw.slice(split),
          number,
          numberOnConnection,
        };
        requests.push(request);
        behave(socket, request);
      }
    });
  });
  server.on("tlsClientError", () => undefined);
  server.on("connection", (socket: Socket) => {
    connectionCount += 1;
    open.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => open.delete(socket));
  });
  const port = await listen(server, host);
  const dropConnections = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    port,
    requests,
    connectionCount: () => connectionCount,
    openCount: () => open.size,
    url: (path = "/webhooks/service", hostname = "receiver.test") => `https://${hostname}:${port}${path}`,
    dropConnections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        dropConnections();
      }),
  };
}

/** Null while the request is not complete. */
function requestLength(bytes: Buffer): number | null {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return null;
  const bodyBytes = Number(/\r\ncontent-length: (\d+)/i.exec(bytes.toString("latin1", 0, headEnd))?.[1] ?? 0);
  const length = headEnd + 4 + bodyBytes;
  return bytes.length >= length ? length : null;
}
