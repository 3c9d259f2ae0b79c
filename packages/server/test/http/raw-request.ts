// Sends bytes as they are: what a well-behaved client would repair or refuse to send arrives unchanged.
import { connect } from "node:net";

export interface RawAnswer {
  /** 0 when the connection was closed without an answer. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  /** Names and values; a name may come twice. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: string | Buffer;
}

export function sendRequest(url: string, request: RawRequest): Promise<RawAnswer> {
  const body = Buffer.from(request.body ?? "");
  const lines = [
    `${request.method} ${request.path} HTTP/1.1`,
    "Host: localhost",
    "Connection: close",
    ...request.headers.map(([name, value]) => `${name}: ${value}`),
    ...(request.body === undefined ? [] : [`Content-Length: ${body.length}`]),
  ];
  return sendBytes(url, Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), body]));
}

export function sendBytes(url: string, bytes: Buffer | string, waitMs = 5_000): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    const finish = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(parseAnswer(Buffer.concat(chunks).toString()));
    };
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`No answer and no close within ${waitMs} ms`));
    }, waitMs);
    socket.on("connect", () => socket.write(bytes));
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      // A stream goes on for ever; that it began is all there is to know.
      if (chunk.includes("text/event-stream")) finish();
    });
    // A server that has said no may reset the connection while we still write.
    socket.on("error", () => undefined);
    socket.on("close", finish);
  });
}

function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = text.slice(0, end === -1 ? 0 : end).split("\r\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1] ?? 0),
    headers: Object.fromEntries(headers),
    body: end === -1 ? "" : text.slice(end + 4),
  };
}
