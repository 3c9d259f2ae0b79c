// When the database is away: requests are refused at once, nothing piles up, and all is well when it is back.
import net from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../../src/database/connect.ts";
import { createContent, createGame } from "../support/seed.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

/** Between the service and its database, so that the database can go away without harm to other tests. */
let proxy: net.Server;
let isAway = false;
const open = new Set<net.Socket>();
let direct: TestDatabase;
let service: TestService;

beforeAll(async () => {
  direct = await createTestDatabase();
  const target = new URL(direct.url);
  proxy = net.createServer((socket) => {
    if (isAway) return socket.destroy();
    const upstream = net.connect(Number(target.port || 5432), target.hostname);
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      open.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        open.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
    return undefined;
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const url = new URL(direct.url);
  url.host = `127.0.0.1:${(proxy.address() as net.AddressInfo).port}`;
  const sql = connect(url.href, { poolSize: 5 });
  service = await startTestService({ database: { ...direct, sql, drop: () => sql.end({ timeout: 1 }) } });
});
afterAll(async () => {
  await service.stop();
  await service.database.drop();
  await new Promise((resolve) => proxy.close(resolve));
  await direct.drop();
});

test("503 at once with Retry-After, none of it is done later, and the service recovers by itself", async () => {
  const gameId = await createGame(service);
  const contentIdentifier = await createContent(service, gameId, "CONSUMABLE");
  const buy = () =>
    service.call("POST", `/api/games/${gameId}/purchases`, {
      body: { userId: "ann", contentIdentifier, env: "PLAYTEST" },
    });
  expect((await buy()).status).toBe(201);

  isAway = true;
  for (const socket of open) socket.destroy();
  const deadline = Date.now() + 20_000;
  while ((await service.call("GET", "/readyz", { token: null })).status !== 503)
    expect(Date.now()).toBeLessThan(deadline);
  // Once it is known, everybody is told at once.
  let refused = await buy();
  while (refused.status !== 503) refused = await buy();
  await new Promise((resolve) => setTimeout(resolve, 4_500));
  const answers = await Promise.all(Array.from({ length: 200 }, buy));
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([503]));
  expect(answers[0]?.body.code).toBe("unavailable");
  expect(answers[0]?.headers.get("retry-after")).toBe("1");
  expect((await service.call("GET", "/healthz", { token: null })).status).toBe(200);

  isAway = false;
  while ((await buy()).status !== 201) await new Promise((resolve) => setTimeout(resolve, 100));
  const [row] = await direct.sql<[{ count: number }]>`SELECT count(*)::int AS count FROM purchases`;
  expect(row.count).toBe(2);
});
