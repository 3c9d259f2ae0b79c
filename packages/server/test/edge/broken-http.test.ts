// Requests that are not HTTP, or barely: each gets a clear answer, and the next client is served.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { errorBody } from "@coinslot/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buy } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { openRaw, parseRaw, type RawAnswer } from "./raw-http.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

async function send(text: string): Promise<RawAnswer> {
  const raw = await openRaw(service);
  raw.write(text);
  await raw.closed;
  return parseRaw(raw.received());
}

describe("a request that cannot be read", () => {
  it.each([
    ["not HTTP at all", "hello there\r\n\r\n"],
    ["a TLS handshake", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ["an unknown method", "FROB / HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["an unknown version", "GET / HTTP/9.9\r\nHost: x\r\n\r\n"],
    ["a broken header", "GET / HTTP/1.1\r\nHost: x\r\nno colon here\r\n\r\n"],
    ["a NUL in a header", "GET / HTTP/1.1\r\nHost: x\r\nA: \u0000\r\n\r\n"],
    ["headers without end", `GET / HTTP/1.1\r\nHost: x\r\nA: ${"a".repeat(40_000)}\r\n\r\n`],
    ["a negative length", "POST /api/games HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"],
    [
      "two lengths",
      "POST /api/games HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    ],
    [
      "a length and a transfer encoding, as request smuggling sends them",
      "POST /api/games HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
  ])("400 in JSON for %s, and the connection is closed", async (_what, text) => {
    const { status, head, body } = await send(text);
    expect(status).toBe(400);
    expect(head).toMatch(/^content-type: application\/json; charset=utf-8$/im);
    expect(head).toMatch(/^connection: close$/im);
    expect(head).toContain(`Content-Length: ${Buffer.byteLength(body)}`);
    expect(errorBody.strict().parse(JSON.parse(body)).code).toBe("invalid_input");
    expect((await service.call("GET", "/healthz")).status).toBe(200);
  });
});

describe("an odd request that can be read", () => {
  const close = "Host: x\r\nConnection: close\r\n";

  it.each([
    ["404 a method that no route has", `TRACE /api/games HTTP/1.1\r\n${close}\r\n`, 404],
    ["404 a path that climbs", `GET /../../etc/passwd HTTP/1.1\r\n${close}\r\n`, 404],
    ["404 a double slash", `GET //api//games HTTP/1.1\r\n${close}\r\n`, 404],
    ["400 a path with a broken escape", `GET /api/games/%E0%A4%A HTTP/1.1\r\n${close}\r\n`, 400],
    [
      "400 a chunked body that is not JSON",
      `POST /api/purchases/x/fulfill HTTP/1.1\r\n${close}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n\r\n`,
      400,
    ],
    [
      "413 a length over the limit, before the body is sent",
      `POST /api/purchases/x/fulfill HTTP/1.1\r\n${close}Content-Type: application/json\r\nContent-Length: 99999999\r\n\r\n`,
      413,
    ],
  ])("%s", async (_what, text, status) => {
    const answer = await send(text);
    expect(answer.status).toBe(status);
    expect(errorBody.strict().safeParse(JSON.parse(answer.body)).error).toBeUndefined();
    expect(answer.head).toMatch(/^x-request-id: req_/im);
    expect(answer.head).toMatch(/^x-content-type-options: nosniff$/im);
  });

  it("413 a chunked body that goes past the limit", async () => {
    const chunk = `4000\r\n${"x".repeat(0x4000)}\r\n`;
    const answer = await send(
      `POST /api/purchases/x/fulfill HTTP/1.1\r\n${close}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(5)}0\r\n\r\n`,
    );
    expect(answer.status).toBe(413);
  });
});

describe("a Host header sent twice", () => {
  it.each(["Host: x\r\nHost: x\r\n", "Host: x\r\nhOST: y\r\n"])(
    "400 for %j, of which a proxy may have gone by either",
    async (hosts) => {
      const answer = await send(`GET /healthz HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`);
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.body)).toMatchObject({ code: "invalid_input", field: "Host" });
    },
  );
});

describe("a broken request behind a good one", () => {
  it.each([
    ["not HTTP", "hello there\r\n\r\n"],
    ["an Expect that nobody can meet", "GET / HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n"],
  ])("%s: its 400 is not read as the answer to a fulfil that committed", async (_what, broken) => {
    const { purchaseId, receiptJwt, gameId } = await buy(service);
    const body = JSON.stringify({ receiptJwt });
    const raw = await openRaw(service);
    raw.write(
      `POST /api/purchases/${purchaseId}/fulfill HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}${broken}`,
    );
    await raw.closed;
    expect(raw.received()).toBe("");
    const path = `/api/games/${gameId}/purchases/${purchaseId}`;
    await expect
      .poll(async () => JSON.stringify((await service.call("GET", path)).body))
      .toContain("FULFILLED");
  });

  it("is answered 400 when the good one has been answered", async () => {
    const raw = await openRaw(service);
    raw.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    await expect.poll(() => raw.received()).toContain("200 OK");
    raw.write("hello there\r\n\r\n");
    await raw.closed;
    expect(raw.received()).toMatch(/200 OK.*400 Bad Request/s);
  });

  it("is answered 400 when what is broken is the body of the request itself", async () => {
    const answer = await send(
      "POST /api/purchases/x/fulfill HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    );
    expect(answer.status).toBe(400);
  });
});

describe("a client that leaves in the middle of its body", () => {
  it.each([
    ["with a reset", (socket: Socket) => socket.resetAndDestroy()],
    ["with an end", (socket: Socket) => socket.end()],
  ])("%s, is not an outage of the database: nothing above debug is logged", async (_how, leave) => {
    const requestId = randomUUID();
    const raw = await openRaw(service);
    raw.write(
      `POST /api/purchases/x/fulfill HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${requestId}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    leave(raw.socket);
    const lines = () =>
      service.logLines.map((line) => JSON.parse(line)).filter((line) => line.requestId === requestId);
    await expect.poll(lines).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(lines()).toEqual([
      expect.objectContaining({ level: 20, msg: "A client left in the middle of its request" }),
    ]);
  });
});

describe("clients that never read their answers", () => {
  it("are not held for ever: connections are counted and time out", async () => {
    const { server } = service.app.http;
    expect(server.maxConnections).toBe(10_000);
    expect(server.timeout).toBe(75_000);
    expect(server.timeout).toBeGreaterThan(server.keepAliveTimeout);
  });

  it("lose their connection when it stalls in the middle of a write", async () => {
    const { server } = service.app.http;
    const usualMs = server.timeout;
    server.setTimeout(300);
    try {
      const accepted = once(server, "connection");
      const raw = await openRaw(service);
      const [connection] = await accepted;
      raw.socket.pause();
      raw.write("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(500));
      await expect.poll(() => connection.writableLength).toBeGreaterThan(0);
      await expect.poll(() => connection.destroyed, { timeout: 5_000 }).toBe(true);
      raw.socket.destroy();
    } finally {
      server.setTimeout(usualMs);
    }
  });
});
