// The days of the attempts log: made before they are needed, dropped when they are old, with writers at work.
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../../src/database/connect.ts";
import { createAttemptPartitions } from "../../src/webhooks/attempt-partitions.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const dayMs = 24 * 60 * 60 * 1000;
const start = Date.UTC(2026, 0, 31);

async function days(): Promise<string[]> {
  const rows = await database.sql<{ name: string }[]>`
    SELECT inhrelid::regclass::text AS name FROM pg_inherits
    WHERE inhparent = 'delivery_attempts'::regclass ORDER BY 1`;
  return rows.map((row) => row.name.replace("delivery_attempts_", ""));
}

const write = (number: number, at: number) => database.sql`
  INSERT INTO delivery_attempts (game_id, delivery_id, number, started_at, trigger, url)
  VALUES ('g', 'd', ${number}, ${new Date(at)}, 'FIRST', 'https://a.example/')`;

test("several processes at once make each day once, the next two included", async () => {
  const pools = Array.from({ length: 4 }, () => connect(database.url, { poolSize: 1 }));
  await Promise.all(pools.map((sql) => createAttemptPartitions(sql).ensure(start)));
  await Promise.all(pools.map((sql) => sql.end()));
  expect(await days()).toEqual(["20260130", "20260131", "20260201", "20260202"]);
});

test("old days go, what is kept stays, and writers go on all the while", async () => {
  const partitions = createAttemptPartitions(database.sql);
  await partitions.ensure(start);
  for (let day = 0; day < 3; day++) await write(day, start + day * dayMs);
  let written = 100;
  let isDone = false;
  const writing = (async () => {
    while (!isDone) await write(written++, start + 2 * dayMs);
  })();
  expect(await partitions.dropOld(start + 2 * dayMs, 1)).toBe(2);
  isDone = true;
  await writing;
  expect(await days()).toEqual(["20260201", "20260202"]);
  const rows = await database.sql<{ number: number }[]>`SELECT number FROM delivery_attempts ORDER BY number`;
  expect(rows.map((row) => row.number).slice(0, 2)).toEqual([1, 2]);
  expect(rows).toHaveLength(2 + written - 100);
  expect(await partitions.dropOld(start + 2 * dayMs, 1)).toBe(0);
});
