// What is left after kill -9 of the service or of the server: everything that was acknowledged.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { afterAll, describe, expect, test } from "vitest";
import {
  afterTest,
  folderWithDatabase,
  leftOvers,
  query,
  removeModel,
  start,
  startService,
  temporaryFolder,
  writtenIds,
} from "./helpers.ts";

afterAll(removeModel);

const UNDER_LOAD_MS = 700;

describe("kill -9 of the service", () => {
  test("under load: the next start adopts its server, and every acknowledged write is there", async () => {
    const dataDir = await folderWithDatabase();
    const service = startService([dataDir, "write"]);
    const { started } = await service.report;
    await sleep(UNDER_LOAD_MS);
    service.child.kill("SIGKILL");
    await service.ended;

    const server = await start(dataDir);
    expect(server).toMatchObject({ adopted: true, pid: started?.pid, url: started?.url });
    const ids = await writtenIds(server.url);
    expect(service.acknowledged.length).toBeGreaterThan(100);
    expect(service.acknowledged.filter((id) => !ids.has(id))).toEqual([]);

    await server.stop();
    expect(leftOvers(dataDir)).toEqual([]);
  });

  test("together with its server: the next start recovers", async () => {
    const dataDir = await folderWithDatabase();
    const service = startService([dataDir, "write"]);
    const { started } = await service.report;
    await sleep(UNDER_LOAD_MS);
    service.child.kill("SIGKILL");
    process.kill(started?.pid ?? 0, "SIGKILL");
    await service.ended;

    const server = await start(dataDir);
    expect(server.adopted).toBe(false);
    const ids = await writtenIds(server.url);
    expect(service.acknowledged.length).toBeGreaterThan(100);
    expect(service.acknowledged.filter((id) => !ids.has(id))).toEqual([]);
  });

  test("while it starts for the first time: the next start works", async () => {
    const dataDir = temporaryFolder();
    const service = startService([dataDir]);
    // Killed at whatever step it has come to once its lock is there.
    for (let waited = 0; waited < 500 && !lockIsThere(dataDir); waited++) await sleep(5);
    await sleep(40);
    service.child.kill("SIGKILL");
    await service.ended;
    const server = await start(dataDir);
    expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
  });
});

describe("kill -9 of the server", () => {
  test("under load, a child of it computing on: every acknowledged write is there after a start", async () => {
    const dataDir = await folderWithDatabase();
    const server = await start(dataDir);
    await query(server.url, "create table written (id int primary key)");
    const sql = postgres(server.url, { max: 9, onnotice: () => {} });
    afterTest(() => sql.end({ timeout: 0 }));
    const busy = sql`select count(*) from generate_series(1, 100000) a, generate_series(1, 100000) b`.catch(
      () => {},
    );
    const acknowledged: number[] = [];
    let next = 0;
    const writer = async () => {
      for (;;) {
        const id = ++next;
        await sql`insert into written values (${id})`;
        acknowledged.push(id);
      }
    };
    const writers = Array.from({ length: 8 }, () => writer().catch(() => {}));
    await sleep(UNDER_LOAD_MS);
    process.kill(server.pid, "SIGKILL");
    await Promise.all(writers);
    await server.stop();

    const again = await start(dataDir);
    await busy;
    expect(again.adopted).toBe(false);
    const ids = await writtenIds(again.url);
    expect(acknowledged.length).toBeGreaterThan(100);
    expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
  });
});

describe("a postmaster.pid left behind", () => {
  async function stoppedDatabase() {
    const dataDir = await folderWithDatabase();
    const server = await start(dataDir);
    const path = join(dataDir, "postgres", "data", "postmaster.pid");
    const content = readFileSync(path, "utf8");
    await server.stop();
    return { dataDir, path, content };
  }

  test("with a pid that now belongs to another process", async () => {
    const { dataDir, path, content } = await stoppedDatabase();
    const other = spawn("sleep", ["60"]);
    afterTest(() => other.kill());
    writeFileSync(path, content.replace(/^\d+/, String(other.pid)));
    expect((await start(dataDir)).adopted).toBe(false);
    expect(other.exitCode).toBeNull();
  });

  test("with a pid that now belongs to a server on another folder", async () => {
    const { dataDir, path, content } = await stoppedDatabase();
    const other = await start(await folderWithDatabase());
    const port = new URL(other.url).port;
    writeFileSync(path, content.replace(/^\d+/, String(other.pid)).replace(/^\d{4,5}$/m, port));
    const server = await start(dataDir);
    expect(server.adopted).toBe(false);
    expect(await query(other.url, "select 1 as one")).toEqual([{ one: 1 }]);
  });

  test("with a pid that nobody has, or with nothing in it", async () => {
    const { dataDir, path, content } = await stoppedDatabase();
    writeFileSync(path, content.replace(/^\d+/, "4194303"));
    await (await start(dataDir)).stop();
    writeFileSync(path, "");
    expect((await start(dataDir)).adopted).toBe(false);
  });
});

function lockIsThere(dataDir: string): boolean {
  try {
    return readFileSync(join(dataDir, "coinslot.lock")).length > 0;
  } catch {
    return false;
  }
}
