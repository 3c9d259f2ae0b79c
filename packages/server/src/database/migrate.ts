// Brings the database to the form that this code needs: numbered SQL files, forward only, all or nothing.
import { readdir, readFile } from "node:fs/promises";
import { StartupError } from "../startup-error.ts";
import type { Sql } from "./connect.ts";

const defaultFolder = new URL("./migrations/", import.meta.url);
/** Any number: it only has to be the same in every Coinslot process. */
const migrationLock = 7_061_982;

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly text: string;
}

export async function readMigrations(folder: URL = defaultFolder): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  return Promise.all(
    files.map(async (file, index) => {
      const number = Number(/^(\d{4})-[a-z0-9-]+\.sql$/.exec(file)?.[1]);
      if (number !== index + 1) throw new Error(`Migration ${file} is not number ${index + 1}.`);
      return { number, name: file, text: await readFile(new URL(file, folder), "utf8") };
    }),
  );
}

/** Safe when several processes start at once: one migrates, the others wait for it and then find nothing to do. */
export async function migrate(
  sql: Sql,
  migrations: readonly Migration[],
  nowMs: number,
): Promise<{ applied: number }> {
  return sql.begin(async (tx) => {
    // Building an index on a large table takes longer than a request may, and so does waiting for who builds it.
    await tx`SET LOCAL statement_timeout = 0`;
    await tx`SELECT pg_advisory_xact_lock(${migrationLock})`;
    await tx`
      CREATE TABLE IF NOT EXISTS coinslot_migrations (
        number integer PRIMARY KEY,
        name text NOT NULL,
        applied_at timestamptz NOT NULL
      )`;
    const [row] = await tx<
      { newest: number }[]
    >`SELECT coalesce(max(number), 0)::int AS newest FROM coinslot_migrations`;
    const newest = row?.newest ?? 0;
    if (newest > migrations.length) {
      throw new StartupError(
        `The database was written by a newer Coinslot (migration ${newest}, this one knows ${migrations.length}). ` +
          "Start that version or a later one.",
      );
    }
    const pending = migrations.slice(newest);
    for (const { number, name, text } of pending) {
      await tx.unsafe(text);
      await tx`
        INSERT INTO coinslot_migrations (number, name, applied_at)
        VALUES (${number}, ${name}, ${new Date(nowMs)})`;
    }
    return { applied: pending.length };
  });
}

/** For commands that change nothing about the form of the database: it must be the one this code needs. */
export async function checkMigrated(sql: Sql, migrations: readonly Migration[]): Promise<void> {
  const [table] = await sql<
    [{ exists: boolean }]
  >`SELECT to_regclass('coinslot_migrations') IS NOT NULL AS exists`;
  const [row] = table.exists
    ? await sql<{ newest: number }[]>`SELECT max(number)::int AS newest FROM coinslot_migrations`
    : [];
  if (row?.newest === migrations.length) return;
  throw new StartupError(
    "The database is not that of this version of Coinslot. Start the service first, or use its version.",
  );
}
