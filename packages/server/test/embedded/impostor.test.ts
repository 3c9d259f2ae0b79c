// Somebody else on the server's port: never gets a password.
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { connect, isDatabaseOutage } from "../../src/database/connect.ts";
import { dialServer } from "../../src/database/embedded/dial-server.ts";
import { openBeside, openDatabase } from "../../src/database/open-database.ts";
import { afterTest, folderWithDatabase, removeModel, start } from "./helpers.ts";

afterAll(removeModel);

const CLEARTEXT_PASSWORD_PLEASE = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]);

interface Impostor {
  readonly server: Server;
  readonly heard: Buffer[];
}

/** Asks everybody for the password in clear text, and keeps what it hears. */
async function impostorOn(port: number): Promise<Impostor> {
  const heard: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      heard.push(chunk);
      socket.write(CLEARTEXT_PASSWORD_PLEASE);
    });
  });
  for (;;) {
    const bound = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (bound) break;
    await sleep(1);
  }
  afterTest(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { server, heard };
}

function configOf(dataDir: string) {
  return { databaseUrl: null, databasePoolSize: 3, dataDir };
}

const heardBy = (impostor: Impostor) => Buffer.concat(impostor.heard).toString("latin1");
const passwordsIn = (dataDir: string) =>
  ["postgres.password", "postgres-app.password"].map((name) =>
    readFileSync(join(dataDir, name), "utf8").trim(),
  );

test("this impostor does get the password of a client that trusts the address", async () => {
  const impostor = await impostorOn(0);
  const address = impostor.server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const sql = connect(`postgres://me:hunter2@127.0.0.1:${port}/x`, { poolSize: 1 });
  const asked = sql`select 1`.catch(() => undefined);
  while (!heardBy(impostor).includes("hunter2")) await sleep(5);
  await sql.end({ timeout: 0 });
  await asked;
});

describe("on the port of a server that was killed", () => {
  test("the service's pool gives it nothing, and finds the restarted server at its new port", async () => {
    const dataDir = await folderWithDatabase();
    const database = await openDatabase(configOf(dataDir), () => undefined);
    afterTest(() => database.close());
    const { sql } = database;
    await sql`create table kept as select 42 as answer`;
    const pidFile = join(dataDir, "postgres", "data", "postmaster.pid");
    const [pid, , , port] = readFileSync(pidFile, "utf8").split("\n").map(Number);
    process.kill(pid ?? 0, "SIGKILL");
    const impostor = await impostorOn(port ?? 0);

    // More failures than the pool has places: none of them may be lost.
    let failures = 0;
    const answers = async (): Promise<unknown[]> => {
      for (;;) {
        const outcome = await Promise.all(
          Array.from({ length: 6 }, () =>
            sql`select answer from kept`.then(
              ([row]) => row?.["answer"] as unknown,
              (error: unknown) => {
                failures += 1;
                if (!isDatabaseOutage(error)) throw error;
                return undefined;
              },
            ),
          ),
        );
        if (outcome.every((answer) => answer === 42)) return outcome;
        await sleep(10);
      }
    };
    expect(await answers()).toHaveLength(6);
    expect(failures).toBeGreaterThan(3);
    expect(readFileSync(pidFile, "utf8").split("\n")[3]).not.toBe(String(port));
    expect(heardBy(impostor)).toBe("");
  });

  test("a command beside the service gives it nothing, and starts the server itself", async () => {
    const dataDir = await folderWithDatabase();
    const server = await start(dataDir);
    const pidFile = join(dataDir, "postgres", "data", "postmaster.pid");
    const left = readFileSync(pidFile, "utf8");
    await server.stop();
    writeFileSync(pidFile, left.replace(/^\d+/, String(process.pid)));
    const impostor = await impostorOn(Number(new URL(server.url).port));
    const beside = await openBeside(configOf(dataDir), () => undefined);
    afterTest(() => beside.close());
    expect(await beside.sql`select 1 as one`).toEqual([{ one: 1 }]);
    for (const password of passwordsIn(dataDir)) expect(heardBy(impostor)).not.toContain(password);
    expect(heardBy(impostor)).toBe("");
  });
});

test("a command beside a running service uses its server", async () => {
  const dataDir = await folderWithDatabase();
  const service = await openDatabase(configOf(dataDir), () => undefined);
  afterTest(() => service.close());
  const beside = await openBeside(configOf(dataDir), () => undefined);
  const [mine] = await service.sql`select pg_postmaster_start_time()::text as start`;
  expect(await beside.sql`select pg_postmaster_start_time()::text as start`).toEqual([mine]);
  await beside.close();
  expect(await service.sql`select 1 as one`).toEqual([{ one: 1 }]);
});

test("one that lets a connection in and gives the port back to the restarted server gets nothing on it", async () => {
  const dataDir = await folderWithDatabase();
  const server = await start(dataDir);
  const impostor = await impostorOn(0);
  const address = impostor.server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  let looks = 0;
  const look = async () => ({ port, identity: `start ${++looks}` });
  const sql = connect(server.url, { poolSize: 1, dial: dialServer(dataDir, look) });
  await expect(sql`select 1`).rejects.toSatisfy(isDatabaseOutage);
  expect(looks).toBe(2);
  await sql.end({ timeout: 1 });
  expect(heardBy(impostor)).toBe("");
});
