// Migrations: once, in order, together, and never backwards.
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../../src/database/connect.ts";
import { migrate, readMigrations } from "../../src/database/migrate.ts";
import { StartupError } from "../../src/startup-error.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
});
afterAll(() => database.drop());

const create = (number: number) => ({
  number,
  name: `${String(number).padStart(4, "0")}-x.sql`,
  text: `CREATE TABLE step_${number} (id int); SELECT pg_sleep(0.05);`,
});

test("several processes at once: each step is applied once", async () => {
  const steps = [create(1), create(2), create(3)];
  const processes = Array.from({ length: 6 }, () => connect(database.url, { poolSize: 1 }));
  const results = await Promise.all(processes.map((sql) => migrate(sql, steps, 0)));
  expect(results.map((result) => result.applied).sort()).toEqual([0, 0, 0, 0, 0, 3]);
  await Promise.all(processes.map((sql) => sql.end()));
});

test("only what is new is applied", async () => {
  expect(await migrate(database.sql, [create(1), create(2), create(3), create(4)], 0)).toEqual({
    applied: 1,
  });
});

test("a step that fails leaves nothing of itself behind", async () => {
  const broken = { number: 5, name: "0005-x.sql", text: "CREATE TABLE step_5 (id int); SELECT 1 / 0;" };
  await expect(
    migrate(database.sql, [create(1), create(2), create(3), create(4), broken], 0),
  ).rejects.toThrow("division by zero");
  const rows =
    await database.sql`SELECT to_regclass('step_5') AS made, (SELECT max(number) FROM coinslot_migrations) AS newest`;
  expect(rows[0]).toEqual({ made: null, newest: 4 });
});

test("a database that is newer than the code is refused with a clear message", async () => {
  const refused = migrate(database.sql, [create(1)], 0);
  await expect(refused).rejects.toThrow(StartupError);
  await expect(refused).rejects.toThrow(/written by a newer Coinslot \(migration 4, this one knows 1\)/);
});

test("the files are numbered without gaps", async () => {
  const migrations = await readMigrations();
  expect(migrations.map((migration) => migration.number)).toEqual(migrations.map((_, index) => index + 1));
});

test("every table that grows with traffic has game_id first in its primary key, unique and foreign keys", async () => {
  const fresh = await createTestDatabase();
  const notPerGame = ["games", "access_tokens", "signing_keys", "issuers", "coinslot_migrations"];
  const rows = await fresh.sql<{ tableName: string; name: string; first: string }[]>`
    SELECT c.conrelid::regclass::text AS table_name, c.conname AS name, a.attname AS first
    FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
    WHERE c.contype IN ('p', 'u', 'f') AND c.connamespace = 'public'::regnamespace
    UNION ALL
    SELECT i.indrelid::regclass::text, i.indexrelid::regclass::text, a.attname
    FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
    JOIN pg_class r ON r.oid = i.indrelid AND r.relnamespace = 'public'::regnamespace WHERE i.indisunique`;
  await fresh.drop();
  const wrong = rows.filter((row) => !notPerGame.includes(row.tableName) && row.first !== "game_id");
  expect(wrong).toEqual([]);
  expect(rows.length).toBeGreaterThan(10);
});
