// Starting and stopping the embedded server.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { StartupError } from "../../src/startup-error.ts";
import {
  afterTest,
  folderWithDatabase,
  leftOvers,
  query,
  removeModel,
  start,
  superuserUrl,
  temporaryFolder,
} from "./helpers.ts";

afterAll(removeModel);

const DEBIAN_15 = "/usr/lib/postgresql/15/bin";

async function failure(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => expect.fail("it started"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StartupError);
  const message = (error as StartupError).message;
  expect(message).not.toContain("\n");
  return message;
}

describe("a first start", () => {
  test("makes a durable UTF-8 database that wants a password from everybody", async () => {
    const dataDir = join(temporaryFolder(), "new", ".coinslot");
    const server = await start(dataDir);
    expect(server.adopted).toBe(false);
    const [settings] = await query(
      superuserUrl(server.url, dataDir),
      `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
        current_setting('full_page_writes') as pages, current_setting('data_checksums') as checksums,
        current_setting('server_encoding') as encoding, current_setting('listen_addresses') as addresses,
        current_setting('unix_socket_directories') as sockets,
        current_setting('authentication_timeout') as login,
        (select array_agg(distinct auth_method) from pg_hba_file_rules) as methods`,
    );
    expect(settings).toEqual({
      fsync: "on",
      commit: "on",
      pages: "on",
      checksums: "on",
      encoding: "UTF8",
      addresses: "127.0.0.1",
      sockets: "",
      login: "5s",
      methods: ["scram-sha-256"],
    });
    const wrong = server.url.replace(/:[^:@]+@/, ":wrong@");
    await expect(query(wrong, "select 1")).rejects.toMatchObject({ code: "28P01" });
    for (const name of ["postgres.password", "postgres-app.password"]) {
      expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600);
    }
    expect(statSync(dataDir).mode & 0o077).toBe(0);
  });

  test("is not held up by what an interrupted one left behind", async () => {
    const dataDir = temporaryFolder();
    const half = join(dataDir, "postgres", "initdb-0123");
    mkdirSync(join(half, "base"), { recursive: true });
    writeFileSync(join(half, "PG_VERSION"), "18\n");
    writeFileSync(`${half}.password`, "x\n");
    const server = await start(dataDir);
    expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
    expect(readdirSync(join(dataDir, "postgres")).sort()).toEqual(["data", "postgres.log"]);
  });

  test("works in a folder whose path is longer than a Unix socket's may be", async () => {
    const dataDir = join(temporaryFolder(), "long".repeat(30), "with space", "l'ong".repeat(20));
    const server = await start(dataDir);
    expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
  });

  test.skipIf(!existsSync(DEBIAN_15))("works with the programs of PostgreSQL 15", async () => {
    const dataDir = temporaryFolder();
    const server = await start(dataDir, { binDir: DEBIAN_15 });
    await server.stop();
    const again = await start(dataDir, { binDir: DEBIAN_15 });
    expect(await query(again.url, "show server_encoding")).toEqual([{ server_encoding: "UTF8" }]);
  });
});

describe("a later start", () => {
  test("finds what was written, at the same port, in well under a second", async () => {
    const dataDir = await folderWithDatabase();
    const first = await start(dataDir);
    await query(first.url, "create table kept as select 42 as answer");
    await first.stop();
    const began = performance.now();
    const second = await start(dataDir);
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(second.adopted).toBe(false);
    expect(second.url).toBe(first.url);
    expect(await query(second.url, "select answer from kept")).toEqual([{ answer: 42 }]);
  });

  test("takes another port when its own is taken", async () => {
    const dataDir = await folderWithDatabase();
    const first = await start(dataDir);
    await first.stop();
    const squatter = createServer().listen(Number(new URL(first.url).port), "127.0.0.1");
    afterTest(() => squatter.close());
    const second = await start(dataDir);
    expect(second.url).not.toBe(first.url);
    expect(await query(second.url, "select 1 as one")).toEqual([{ one: 1 }]);
  });
});

test("stop leaves no process and no lock behind, and may be called again", async () => {
  const dataDir = await folderWithDatabase();
  const server = await start(dataDir);
  const busy = query(server.url, "select pg_sleep(60)").catch(() => "cut off");
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(existsSync(join(dataDir, "coinslot.lock"))).toBe(true);
  await Promise.all([server.stop(), server.stop()]);
  await server.stop();
  expect(await busy).toBe("cut off");
  expect(leftOvers(dataDir)).toEqual([]);
  expect(readdirSync(dataDir).sort()).toEqual(["postgres", "postgres-app.password", "postgres.password"]);
});

describe("refused with one line", () => {
  test("when a newer or an older PostgreSQL wrote the database", async () => {
    const dataDir = temporaryFolder();
    mkdirSync(join(dataDir, "postgres", "data"), { recursive: true });
    const version = join(dataDir, "postgres", "data", "PG_VERSION");
    writeFileSync(version, "99\n");
    expect(await failure(start(dataDir))).toMatch(/written by PostgreSQL 99, .* newer Coinslot/);
    writeFileSync(version, "14\n");
    expect(await failure(start(dataDir))).toMatch(/written by PostgreSQL 14, .* pg_upgrade/);
    expect(existsSync(join(dataDir, "coinslot.lock"))).toBe(false);
  });

  test("when the data folder is a file", async () => {
    const path = join(temporaryFolder(), "file");
    writeFileSync(path, "");
    expect(await failure(start(path))).toContain(
      `The data folder ${path} cannot be used: it is not a folder`,
    );
  });

  test("when the database is damaged, with the line of the log that says so", async () => {
    const dataDir = await folderWithDatabase();
    rmSync(join(dataDir, "postgres", "data", "global", "pg_control"));
    expect(await failure(start(dataDir))).toMatch(/^PostgreSQL did not start: .*pg_control.* Its log is /);
    expect(leftOvers(dataDir)).toEqual([]);
  });

  test("when the password is lost, or belongs to another database", async () => {
    const dataDir = await folderWithDatabase();
    const path = join(dataDir, "postgres.password");
    const password = readFileSync(path);
    rmSync(path);
    expect(await failure(start(dataDir))).toContain(`bring back ${path}`);
    writeFileSync(path, "another\n");
    expect(await failure(start(dataDir))).toMatch(/cannot be used: password authentication failed/);
    writeFileSync(path, password);
    await start(dataDir);
  });
});

test("a server on a copy of the folder is not taken for the folder's own", async () => {
  const original = await folderWithDatabase();
  const copy = temporaryFolder();
  const server = await start(original);
  await query(superuserUrl(server.url, original), "checkpoint");
  cpSync(join(original, "postgres"), join(copy, "postgres"), { recursive: true });
  cpSync(join(original, "postgres.password"), join(copy, "postgres.password"));
  const second = await start(copy);
  expect(second.adopted).toBe(false);
  expect(second.url).not.toBe(server.url);
});
