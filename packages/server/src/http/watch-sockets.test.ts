// Connections whose clients do not read.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { watchSockets } from "./watch-sockets.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** Both ends of a connection to a server whose clock stands still until it is moved. */
async function open(answer: (path: string) => string | null) {
  let nowMs = 0;
  const server = createServer((request, response) => {
    const body = answer(request.url ?? "");
    if (body === null) response.write("a stream");
    else response.end(body);
  });
  servers.push(server);
  const watch = watchSockets(server, { clock: { nowMs: () => nowMs }, stallMs: 30_000, sweepMs: 5 });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const accepted: Promise<Socket[]> = once(server, "connection");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.on("error", () => undefined);
  const [socket] = await accepted;
  if (socket === undefined) throw new Error("No connection.");
  const ask = (path: string) => client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  const pass = async (ms: number) => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    nowMs += ms;
    await new Promise((resolve) => setTimeout(resolve, 30));
  };
  return { client, socket, watch, ask, pass };
}

const large = "x".repeat(32 * 1024 * 1024);

describe("a client that never reads its answer", () => {
  it("does not keep its socket for ever: 30 s and it is destroyed", async () => {
    const { client, socket, ask, pass } = await open(() => large);
    client.pause();
    ask("/");
    await expect.poll(() => socket.writableLength).toBeGreaterThan(0);
    await pass(29_000);
    expect(socket.destroyed).toBe(false);
    await pass(1_000);
    expect(socket.destroyed).toBe(true);
    client.destroy();
  });

  it("does not keep it with answers in line behind the first either", async () => {
    const { client, socket, ask, pass } = await open((path) => (path === "/stream" ? null : "x"));
    ask("/stream");
    ask("/behind");
    await pass(30_000);
    expect(socket.destroyed).toBe(true);
    client.destroy();
  });
});

describe("a client that is left alone", () => {
  it("has read its answer, or follows a stream", async () => {
    for (const path of ["/read", "/stream"]) {
      const { client, socket, watch, ask, pass } = await open(() => (path === "/stream" ? null : large));
      client.resume();
      ask(path);
      await expect.poll(() => socket.bytesWritten).toBeGreaterThan(path === "/stream" ? 0 : large.length);
      await expect.poll(() => watch.owesAnswer(socket)).toBe(path === "/stream");
      await pass(60_000);
      expect(socket.destroyed).toBe(false);
      client.destroy();
    }
  });
});
