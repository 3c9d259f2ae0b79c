// The load generator: raw keep-alive HTTP/1.1 over a fixed number of connections, one request in flight on each.
import { connect, type Socket } from "node:net";
import { performance } from "node:perf_hooks";

export interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  /** Whole requests, head and body. Each is sent once; with `cycleForMs` they are sent over and over for that long. */
  readonly requests: readonly Buffer[];
  readonly cycleForMs: number | null;
  /** How every answer must begin, and what its body must hold: a wrong answer ends the run. */
  readonly expect: { readonly status: number; readonly body: string };
}

export interface LoadResult {
  readonly count: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** No run is longer, whatever the service does. */
const runMaxMs = 30_000;
const headEnd = Buffer.from("\r\n\r\n");

export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const sockets = await Promise.all(
    Array.from({ length: options.connections }, () => openSocket(options.port)),
  );
  const takeRequest = createQueue(options);
  const latenciesMs: number[] = [];
  const deadline = setTimeout(() => {
    for (const socket of sockets) socket.destroy(new Error(`The run took longer than ${runMaxMs} ms.`));
  }, runMaxMs);
  const startedAt = performance.now();
  try {
    await Promise.all(sockets.map((socket) => driveSocket(socket, takeRequest, options.expect, latenciesMs)));
  } finally {
    clearTimeout(deadline);
    for (const socket of sockets) socket.destroy();
  }
  const elapsedS = (performance.now() - startedAt) / 1000;
  const sorted = Float64Array.from(latenciesMs).sort();
  return {
    count: sorted.length,
    perSecond: sorted.length / elapsedS,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
  };
}

function createQueue({ requests, cycleForMs }: LoadOptions): () => Buffer | undefined {
  let next = 0;
  const endsAt = performance.now() + (cycleForMs ?? Number.POSITIVE_INFINITY);
  return () => {
    if (cycleForMs !== null && performance.now() >= endsAt) return undefined;
    return requests[cycleForMs === null ? next++ : next++ % requests.length];
  };
}

function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, noDelay: true });
    socket.once("connect", () => resolve(socket)).once("error", reject);
  });
}

function driveSocket(
  socket: Socket,
  takeRequest: () => Buffer | undefined,
  expect: LoadOptions["expect"],
  latenciesMs: number[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt = 0;
    let received: Buffer | null = null;
    const sendNext = (): void => {
      const request = takeRequest();
      if (request === undefined) {
        resolve();
        return;
      }
      sentAt = performance.now();
      socket.write(request);
    };
    socket.on("data", (chunk: Buffer) => {
      received = received === null ? chunk : Buffer.concat([received, chunk]);
      const answer = readAnswer(received);
      if (answer === null) return;
      received = null;
      if (answer.status !== expect.status || !answer.body.includes(expect.body)) {
        reject(new Error(`The service answered ${answer.status} ${answer.body}`));
        return;
      }
      latenciesMs.push(performance.now() - sentAt);
      sendNext();
    });
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("The service closed a connection.")));
    sendNext();
  });
}

/** The answer once all of it is there. Both services send Content-Length. */
function readAnswer(bytes: Buffer): { status: number; body: string } | null {
  const headLength = bytes.indexOf(headEnd);
  if (headLength < 0) return null;
  const head = bytes.toString("latin1", 0, headLength);
  const bodyLength = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
  const bodyStart = headLength + headEnd.length;
  if (bytes.length < bodyStart + bodyLength) return null;
  return { status: Number(head.slice(9, 12)), body: bytes.toString("latin1", bodyStart) };
}

function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
