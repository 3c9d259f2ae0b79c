// Health, readiness, and a stop that loses nobody's answer.
import { createServer, connect as dial, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { connect } from "../../src/database/connect.ts";
import { buy } from "../support/seed.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { openRaw, parseRaw } from "./raw-http.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function createGate(): { open: () => void; opened: Promise<void> } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** A wire to PostgreSQL that can be cut or can fall silent. */
async function createWire(databaseUrl: string) {
  const { hostname, port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let silent = false;
  const listen = async (at: number): Promise<Server> => {
    const server = createServer((client) => {
      const upstream = dial(Number(port), hostname);
      for (const socket of [client, upstream]) {
        sockets.add(socket);
        socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
      }
      client.on("data", (chunk) => silent || upstream.write(chunk)).on("close", () => upstream.destroy());
      upstream.on("data", (chunk) => client.write(chunk)).on("close", () => client.destroy());
    });
    await new Promise<void>((resolve) => server.listen(at, "127.0.0.1", resolve));
    return server;
  };
  let server = await listen(0);
  const address = server.address();
  const wirePort = typeof address === "object" && address !== null ? address.port : 0;
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String(wirePort);
  const cut = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    url: url.href,
    cut,
    setSilent: (value: boolean) => {
      silent = value;
    },
    mend: async () => {
      server = await listen(wirePort);
    },
  };
}

describe("GET /healthz and /readyz", () => {
  it("200 while all is well; when the database is gone or silent, 503 for what needs it and /healthz still 200", async () => {
    const database = await createTestDatabase({ poolSize: 1 });
    const wire = await createWire(database.url);
    const sql = connect(wire.url, { poolSize: 2 });
    const wired: TestDatabase = { ...database, sql };
    const service = await startTestService({ database: wired });
    cleanups.push(
      () => database.drop(),
      () => wire.cut(),
      () => sql.end({ timeout: 1 }),
      () => service.stop(),
    );
    const ask = (path: string) => service.call("GET", path, { token: null });
    for (const path of ["/healthz", "/readyz"])
      expect(await ask(path)).toMatchObject({ status: 200, body: { status: "ok" } });

    wire.setSilent(true);
    const startedAt = Date.now();
    expect(await ask("/readyz")).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(Date.now() - startedAt).toBeLessThan(5_000);
    expect((await ask("/healthz")).status).toBe(200);
    wire.setSilent(false);

    await wire.cut();
    expect(await ask("/readyz")).toMatchObject({ status: 503, body: { code: "unavailable" } });
    const games = await service.call("GET", "/api/games");
    expect(games).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(games.headers.get("retry-after")).toBe("1");
    expect((await ask("/healthz")).status).toBe(200);

    await wire.mend();
    await expect.poll(async () => (await ask("/readyz")).status, { timeout: 10_000 }).toBe(200);
    await expect
      .poll(async () => (await service.call("GET", "/api/games")).status, { timeout: 10_000 })
      .toBe(200);
  });
});

describe("stop", () => {
  async function start(): Promise<TestService> {
    const database = await createTestDatabase();
    const service = await startTestService({ database });
    cleanups.push(
      () => database.drop(),
      () => service.stop(),
    );
    return service;
  }

  it("requests in flight finish, /readyz turns 503, streams end, idle connections close and new ones are refused", async () => {
    const service = await start();
    const { sql } = service.database;
    const bought = await buy(service);
    const head = `Host: x\r\nAuthorization: Bearer ${service.operatorToken}\r\n`;

    const idle = await openRaw(service);
    idle.write(`GET /healthz HTTP/1.1\r\n${head}\r\n`);
    await expect.poll(() => idle.received()).toContain('{"status":"ok"}');

    const stream = await openRaw(service);
    stream.write(`GET /api/games/${bought.gameId}/events/stream HTTP/1.1\r\n${head}\r\n`);
    await expect.poll(() => stream.received()).toContain("event: purchase.completed");

    // Two requests that cannot end yet: one waits for a lock, of the other only half has been sent.
    const held = createGate();
    const locked = createGate();
    const holding = sql.begin(async (tx) => {
      await tx`SELECT FROM purchases WHERE purchase_id = ${bought.purchaseId} FOR UPDATE`;
      locked.open();
      await held.opened;
    });
    await locked.opened;
    const busy = await openRaw(service);
    const body = JSON.stringify({ receiptJwt: bought.receiptJwt });
    busy.write(
      `POST /api/purchases/${bought.purchaseId}/fulfill HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const waiting = () => sql`SELECT 1 FROM pg_locks WHERE NOT granted`;
    await expect.poll(async () => (await waiting()).length).toBeGreaterThan(0);
    const late = await openRaw(service);
    late.write("GET /readyz HTTP/1.1\r\n");
    await new Promise((resolve) => setTimeout(resolve, 50));

    let stopped = false;
    const stopping = service.app.stop().then(() => {
      stopped = true;
    });
    await Promise.all([idle.closed, stream.closed]);
    expect(stream.received()).toMatch(/0\r\n\r\n$/);
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow();
    late.write(`${head}\r\n`);
    await late.closed;
    expect(parseRaw(late.received())).toMatchObject({ status: 503 });
    expect(stopped).toBe(false);
    expect(busy.received()).toBe("");

    held.open();
    await holding;
    await busy.closed;
    const answer = parseRaw(busy.received());
    expect(answer).toMatchObject({ status: 200, body: '{"status":"FULFILLED"}' });
    await stopping;
  });

  it("a keep-alive connection whose request was in flight does not hold the stop up afterwards", async () => {
    const service = await start();
    const { sql } = service.database;
    const bought = await buy(service);
    const answering = sql.begin(async (tx) => {
      await tx`LOCK TABLE purchases IN ACCESS EXCLUSIVE MODE`;
      const answer = fetch(`${service.url}/api/games/${bought.gameId}/purchases`, {
        headers: { authorization: `Bearer ${service.operatorToken}` },
      });
      await expect
        .poll(async () => (await tx`SELECT 1 FROM pg_locks WHERE NOT granted`).length)
        .toBeGreaterThan(0);
      return { answer, startedAt: Date.now(), stopping: service.app.stop() };
    });
    const { answer, startedAt, stopping } = await answering;
    expect((await answer).status).toBe(200);
    await stopping;
    expect(Date.now() - startedAt).toBeLessThan(5_000);
  });
});
