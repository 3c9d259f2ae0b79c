// The role that the service works as: its own database, and no way to files and programs of the system.
import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { folderWithDatabase, query, removeModel, start, superuserUrl } from "./helpers.ts";

afterAll(removeModel);

test("is no superuser, owns its database, and may make others", async () => {
  const server = await start(await folderWithDatabase());
  const [role] = await query(
    server.url,
    `select rolname, rolsuper, rolcreaterole, rolreplication, rolbypassrls, rolcreatedb, current_database() as database,
      (select pg_get_userbyid(datdba) from pg_database where datname = current_database()) as owner
      from pg_roles where rolname = current_user`,
  );
  expect(role).toEqual({
    rolname: "coinslot_app",
    rolsuper: false,
    rolcreaterole: false,
    rolreplication: false,
    rolbypassrls: false,
    rolcreatedb: true,
    database: "coinslot",
    owner: "coinslot_app",
  });
  await query(server.url, "create database another");
  await query(server.url, "drop database another with (force)");
});

test("is refused everything that leads out of its database", async () => {
  const server = await start(await folderWithDatabase());
  await query(server.url, "create table kept (line text)");
  const statements = [
    "copy kept from program 'id'",
    "copy kept to program 'cat'",
    "copy kept from '/etc/passwd'",
    "select pg_read_file('postgresql.conf')",
    "select pg_ls_dir('/')",
    "select lo_import('/etc/passwd')",
    "select rolpassword from pg_authid",
    "alter system set archive_command = 'id'",
    "set role coinslot",
    "alter role coinslot_app superuser",
    "create function f() returns int language c as 'libc', 'getpid'",
  ];
  for (const statement of statements) {
    const outcome = await query(server.url, statement).then(
      () => "done",
      (error: { code?: string }) => error.code,
    );
    expect([statement, outcome]).toEqual([statement, "42501"]);
  }
});

test("is made in a database that lacks it, and repaired when its password or its rights are not as they should be", async () => {
  const dataDir = await folderWithDatabase();
  const first = await start(dataDir);
  const { port } = new URL(first.url);
  const maintenance = superuserUrl(first.url, dataDir).replace(/coinslot$/, "postgres");
  await query(maintenance, "drop database coinslot");
  await query(maintenance, "drop role coinslot_app");
  await first.stop();
  const second = await start(dataDir);
  expect(await query(second.url, "select 1 as one")).toEqual([{ one: 1 }]);
  await query(second.url, "create table kept as select 42 as answer");
  await query(superuserUrl(second.url, dataDir), "alter role coinslot_app superuser");
  await second.stop();

  const path = join(dataDir, "postgres-app.password");
  const lost = readFileSync(path, "utf8");
  rmSync(path);
  const third = await start(dataDir);
  expect(new URL(third.url).port).toBe(port);
  expect(readFileSync(path, "utf8")).not.toBe(lost);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(
    await query(third.url, "select answer, rolsuper from kept, pg_roles where rolname = current_user"),
  ).toEqual([{ answer: 42, rolsuper: false }]);
});

test("the launcher's password is not in the address, and opens nothing as this role", async () => {
  const dataDir = await folderWithDatabase();
  const server = await start(dataDir);
  const password = readFileSync(join(dataDir, "postgres.password"), "utf8").trim();
  expect(server.url).not.toContain(password);
  const mixed = new URL(server.url);
  mixed.password = password;
  await expect(query(mixed.href, "select 1")).rejects.toMatchObject({ code: "28P01" });
});
