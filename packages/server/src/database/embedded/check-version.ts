// Refuses a database that another major version of PostgreSQL wrote.
import { join } from "node:path";
import { StartupError } from "../../startup-error.ts";
import { readPlainIfThere } from "./files.ts";
import type { Binaries } from "./find-binaries.ts";

/** True when there is a database, and these programs can open it. */
export async function databaseExists(data: string, binaries: Binaries): Promise<boolean> {
  const text = await readPlainIfThere(join(data, "PG_VERSION"));
  if (text === undefined) return false;
  const written = Number.parseInt(text, 10);
  if (written > binaries.major) {
    throw new StartupError(
      `The database in ${data} was written by PostgreSQL ${text.trim()}, and this Coinslot brings ${binaries.major}: start it with the newer Coinslot that wrote it.`,
    );
  }
  if (written < binaries.major) {
    throw new StartupError(
      `The database in ${data} was written by PostgreSQL ${text.trim()}, and this Coinslot brings ${binaries.major}: carry it over with pg_upgrade or pg_dump, or set DATABASE_URL to a PostgreSQL ${text.trim()} server.`,
    );
  }
  return true;
}
