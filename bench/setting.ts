// What a benchmark runs in: a database of its own, the secrets of a service, and a folder for its files.
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { connect, type Sql } from "../packages/server/src/database/connect.ts";
import { startEmbedded } from "../packages/server/src/database/embedded/start-embedded.ts";
import { migrate, readMigrations } from "../packages/server/src/database/migrate.ts";
import type { Cleanup } from "./cleanup.ts";
import type { Progress } from "./progress.ts";
import type { Report } from "./report.ts";

export interface BenchTools {
  readonly cleanup: Cleanup;
  readonly progress: Progress;
  /** Where a CPU profile of our service is to be left, for Chrome's developer tools. */
  readonly profileFolder: string | undefined;
}
export type Bench = (tools: BenchTools) => Promise<Report>;

export interface Setting {
  readonly sql: Sql;
  readonly masterKey: Buffer;
  readonly operatorToken: string;
  /** The environment of a service on this database, as an operator would set it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  /** The database in words. */
  readonly database: string;
}

/** DATABASE_URL's server when it is set, else an embedded one in a temporary folder; either way a new database. */
export async function openSetting({ cleanup, progress }: BenchTools): Promise<Setting> {
  progress.show("Starting PostgreSQL");
  const folder = await mkdtemp(join(tmpdir(), "coinslot-bench-"));
  cleanup.add(() => rm(folder, { recursive: true, force: true }));
  const given = process.env["DATABASE_URL"] ?? "";
  const serverUrl = given === "" ? await startServer(join(folder, "database"), cleanup) : given;

  const name = `coinslot_bench_${randomBytes(6).toString("hex")}`;
  const admin = postgres(serverUrl, { max: 1, onnotice: () => undefined });
  cleanup.add(async () => {
    await admin.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await admin.end({ timeout: 5 });
  });
  await admin.unsafe(`CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const sql = connect(url.href, { poolSize: 2, name: "coinslot-bench" });
  cleanup.add(() => sql.end({ timeout: 5 }));
  await migrate(sql, await readMigrations(), Date.now());

  const masterKey = randomBytes(32);
  const operatorToken = randomBytes(32).toString("hex");
  return {
    sql,
    masterKey,
    operatorToken,
    folder,
    database: `${await describeServer(sql)}, ${given === "" ? "embedded" : "DATABASE_URL"}`,
    environment: {
      DATABASE_URL: url.href,
      COINSLOT_MASTER_KEY: masterKey.toString("hex"),
      COINSLOT_OPERATOR_TOKEN: operatorToken,
      // Counted as in production, but never reached: all load comes from one address with one credential.
      COINSLOT_RATE_LIMIT_CREDENTIAL: "1000000",
      COINSLOT_RATE_LIMIT_ADDRESS: "1000000",
    },
  };
}

async function startServer(dataDir: string, cleanup: Cleanup): Promise<string> {
  const starting = startEmbedded({ dataDir, log: () => undefined });
  cleanup.add(async () => {
    const server = await starting.catch(() => undefined);
    await server?.stop();
  });
  return (await starting).url;
}

async function describeServer(sql: Sql): Promise<string> {
  const [row] = await sql<{ version: string; fsync: string; commit: string }[]>`
    SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
      current_setting('synchronous_commit') AS commit`;
  return `PostgreSQL ${row?.version}, fsync ${row?.fsync}, synchronous_commit ${row?.commit}`;
}
