// Receivers that drip, flood, hang or bomb: every attempt ends by 10.5 s, and memory stays flat.
import net from "node:net";
import { performance } from "node:perf_hooks";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Behaviour, listen, reset } from "./receiver.ts";
import { jwt, testReceiver, testSender } from "./test-sender.ts";

const attemptMaxMs = 10_500;
/** What a busy machine may add to a timer and to the assertion's own clock. */
const slackMs = 1_500;

function drip(first: string, next: string, everyMs = 100): Behaviour {
  return (socket) => {
    socket.write(first);
    const timer = setInterval(() => socket.write(next), everyMs);
    socket.once("close", () => clearInterval(timer));
  };
}

/** Writes as fast as the other side takes it, for ever. */
function flood(first: string, next: string | Buffer): Behaviour {
  return (socket) => {
    const more = () => {
      if (!socket.destroyed) socket.write(next, () => setImmediate(more));
    };
    socket.write(first, more);
  };
}

const ok = "HTTP/1.1 200 OK\r\n";
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`;
const kilobyte = "x".repeat(1024);
const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024));

interface Case {
  readonly what: string;
  readonly behave: Behaviour;
  readonly code: string | null;
  readonly sentence?: string;
}

const waiting = "timed out after 10 s while waiting for the response headers";
const cases: readonly Case[] = [
  { what: "never answers", behave: () => undefined, code: "timed_out", sentence: waiting },
  { what: "drips its status line", behave: drip("H", "T"), code: "invalid_response" },
  {
    what: "drips spaces after the status",
    behave: drip("HTTP/1.1 200 ", "O"),
    code: "timed_out",
    sentence: waiting,
  },
  { what: "drips its headers", behave: drip(ok, "x-a: b\r\n"), code: "timed_out", sentence: waiting },
  { what: "floods with headers", behave: flood(ok, `x: ${kilobyte}\r\n`), code: "headers_too_large" },
  { what: "floods with one header", behave: flood(`${ok}x: `, kilobyte), code: "headers_too_large" },
  {
    what: "floods with 103",
    behave: flood("", "HTTP/1.1 103 E\r\n\r\n".repeat(100)),
    code: "invalid_response",
  },
  {
    what: "floods with 100",
    behave: flood("", "HTTP/1.1 100 C\r\n\r\n".repeat(100)),
    code: "invalid_response",
  },
  { what: "drips 100", behave: drip("", "HTTP/1.1 100 C\r\n\r\n"), code: "timed_out", sentence: waiting },
  { what: "drips its body", behave: drip(`${ok}content-length: 9999\r\n\r\n`, "x"), code: null },
  { what: "drips chunks", behave: drip(chunked, "1\r\nx\r\n"), code: null },
  { what: "drips a failure's body", behave: drip("HTTP/1.1 500 No\r\n\r\n", "x"), code: "status" },
  {
    what: "promises a body that never comes",
    behave: drip(`${ok}content-length: 9\r\n\r\n`, ""),
    code: null,
  },
  { what: "has an endless body", behave: flood(`${ok}\r\n`, kilobyte.repeat(64)), code: null },
  { what: "has endless chunks", behave: flood(chunked, `400\r\n${kilobyte}\r\n`), code: null },
  { what: "has endless chunk extensions", behave: flood(`${chunked}1;`, kilobyte), code: null },
  { what: "has endless trailers", behave: flood(`${chunked}0\r\n`, "x-a: b\r\n".repeat(100)), code: null },
  {
    what: "sends a compression bomb",
    behave: flood(`${ok}content-encoding: gzip\r\ncontent-length: ${bomb.length * 1000}\r\n\r\n`, bomb),
    code: null,
  },
  { what: "resets the connection", behave: reset, code: "connection_reset" },
  {
    what: "resets it within the headers",
    behave: (socket) => socket.write(ok, () => reset(socket)),
    code: "connection_reset",
  },
  { what: "floods with garbage", behave: flood("", Buffer.alloc(64 * 1024, 0xfe)), code: "invalid_response" },
  { what: "floods with empty lines", behave: flood("", "\r\n".repeat(4096)), code: "invalid_response" },
];

describe("hostile receivers", () => {
  it("end by 10.5 s, each with its reason, while a good one is served at once", {
    timeout: 25_000,
  }, async () => {
    const sender = testSender();
    const run = async (item: Case) => {
      const receiver = await testReceiver({ behave: item.behave });
      const startedMs = performance.now();
      const { failure, timings, delivered } = await sender.send(receiver.url(), jwt);
      const tookMs = performance.now() - startedMs;
      expect({ what: item.what, code: failure?.code ?? null }).toEqual({ what: item.what, code: item.code });
      if (item.sentence !== undefined) expect(failure?.sentence, item.what).toBe(item.sentence);
      expect(delivered, item.what).toBe(item.code === null);
      expect(tookMs, item.what).toBeLessThan(attemptMaxMs + slackMs);
      expect(timings.totalMs, item.what).toBeLessThan(attemptMaxMs + slackMs);
    };
    const good = await testReceiver();
    const goodOnes = async () => {
      for (let round = 0; round < 20; round += 1) {
        const { delivered, timings } = await sender.send(good.url(), jwt);
        expect(delivered).toBe(true);
        expect(timings.totalMs).toBeLessThan(2_000);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    };
    const deaf = await testReceiver({ onSecure: (socket) => setImmediate(() => socket.pause()) });
    await Promise.all([
      ...cases.map(run),
      goodOnes(),
      expectPhase(sender, await listenRaw((socket) => socket.resume()), "completing the TLS handshake"),
      expectPhase(sender, await listenRaw(dripHandshake), "completing the TLS handshake"),
      expectPhase(testSender({ lookup: () => new Promise(() => undefined) }), 1, "looking up the name"),
      expectPhase(sender, deaf.port, "sending the request", "x".repeat(32 * 1024 * 1024)),
    ]);
  });

  it("with endless bodies leave memory flat", { timeout: 25_000 }, async () => {
    const receiver = await testReceiver({ behave: flood(`${ok}\r\n`, Buffer.alloc(256 * 1024, "x")) });
    const dripping = await testReceiver({ behave: drip(`${ok}\r\n`, kilobyte, 20) });
    const sender = testSender();
    const many = (count: number) =>
      Promise.all(Array.from({ length: count }, () => sender.send(receiver.url(), jwt)));
    await many(20);
    const beforeBytes = process.memoryUsage().rss;
    let peakBytes = beforeBytes;
    const timer = setInterval(() => {
      peakBytes = Math.max(peakBytes, process.memoryUsage().rss);
    }, 10);
    onTestFinished(() => clearInterval(timer));
    const slow = Array.from({ length: 20 }, () => sender.send(dripping.url(), jwt));
    for (let round = 0; round < 15; round += 1) {
      const attempts = await many(20);
      for (const { delivered, response } of attempts) {
        expect(delivered).toBe(true);
        expect([response?.truncated, response?.body.length]).toEqual([true, 16 * 1024]);
      }
    }
    await Promise.all(slow);
    // Receivers and sender share this process: 320 bodies of which each side buffers a piece at a time.
    expect(peakBytes - beforeBytes).toBeLessThan(100 * 1024 * 1024);
  });
});

async function listenRaw(behave: (socket: net.Socket) => void): Promise<number> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    behave(socket);
  });
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return listen(server);
}

/** The head of a TLS record that promises 4 KiB, then a byte now and then. */
function dripHandshake(socket: net.Socket): void {
  socket.write(Buffer.from([0x16, 0x03, 0x03, 0x10, 0x00, 0x02]));
  const timer = setInterval(() => socket.write(Buffer.of(0)), 100);
  socket.once("close", () => clearInterval(timer));
}

async function expectPhase(
  sender: ReturnType<typeof testSender>,
  port: number,
  phase: string,
  receiptJwt = jwt,
): Promise<void> {
  const startedMs = performance.now();
  const { failure } = await sender.send(`https://receiver.test:${port}/`, receiptJwt);
  expect(failure).toEqual({ code: "timed_out", sentence: `timed out after 10 s while ${phase}` });
  expect(performance.now() - startedMs).toBeLessThan(attemptMaxMs + slackMs);
}
