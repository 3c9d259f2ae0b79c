// The database of this configuration: the server at DATABASE_URL, or the embedded one.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../config.ts";
import { StartupError } from "../startup-error.ts";
import { codeOf, connect, isDatabaseOutage, type Sql } from "./connect.ts";
import type { Dial } from "./embedded/dial-server.ts";
import { findRunning } from "./embedded/find-running.ts";
import { startEmbedded } from "./embedded/start-embedded.ts";

export interface Database {
  readonly sql: Sql;
  /** What to tell a person about it, without a password. */
  readonly description: string;
  close(): Promise<void>;
}

type DatabaseConfig = Pick<Config, "databaseUrl" | "databasePoolSize" | "dataDir">;

/** Opens the database for the service, starting the embedded PostgreSQL when there is no other. */
export async function openDatabase(
  config: DatabaseConfig,
  log: (message: string) => void,
): Promise<Database> {
  if (config.databaseUrl !== null) return openUrl(config.databaseUrl, config.databasePoolSize);
  const embedded = await startEmbedded({ dataDir: config.dataDir, log });
  const sql = connect(embedded.url, { poolSize: config.databasePoolSize, dial: embedded.dial });
  return {
    sql,
    description: `embedded PostgreSQL in ${config.dataDir}${embedded.adopted ? " (taken over, still running)" : ""}`,
    async close() {
      await sql.end({ timeout: 5 });
      await embedded.stop();
    },
  };
}

/** Opens the database for a command: beside a running service, or started for it. Makes none where there is none. */
export async function openBeside(config: DatabaseConfig, log: (message: string) => void): Promise<Database> {
  if (config.databaseUrl !== null) return openUrl(config.databaseUrl, 2);
  const running = await findRunning(config.dataDir);
  if (running !== undefined) {
    const beside = await openUrl(running.url, 2, running.dial).catch(() => null);
    if (beside !== null) return beside;
  }
  if (!existsSync(join(config.dataDir, "postgres.password"))) {
    throw new StartupError(
      `There is no Coinslot in ${resolve(config.dataDir)}. Run this where it was started, or set COINSLOT_DATA_DIR.`,
    );
  }
  return openDatabase(config, log);
}

async function openUrl(url: string, poolSize: number, dial?: Dial): Promise<Database> {
  const sql = connect(url, { poolSize, ...(dial && { dial }) });
  try {
    const [row] = await sql<
      [{ version: number }]
    >`SELECT current_setting('server_version_num')::int AS version`;
    if (row.version < 150_000) {
      throw new StartupError(
        `PostgreSQL ${Math.floor(row.version / 10_000)} is too old: Coinslot needs 15 or later.`,
      );
    }
  } catch (error) {
    await sql.end({ timeout: 1 });
    throw error instanceof StartupError ? error : explain(error, url);
  }
  const { host, pathname } = new URL(url);
  return { sql, description: `PostgreSQL at ${host}${pathname}`, close: () => sql.end({ timeout: 5 }) };
}

function explain(error: unknown, url: string): StartupError {
  const { host, pathname } = new URL(url);
  const reasons: Readonly<Record<string, string>> = {
    "28P01": "the password is wrong",
    "28000": "the server refuses this user",
    "3D000": `there is no database ${pathname.slice(1)}`,
    ENOTFOUND: "the host name is unknown",
  };
  const code = codeOf(error) ?? "";
  const reason = reasons[code] ?? (isDatabaseOutage(error) ? "nothing answers there" : String(error));
  return new StartupError(`Cannot use the PostgreSQL at ${host} (DATABASE_URL): ${reason}.`);
}
