// The addresses of the embedded server, and the proof that the server at them is the one on our folder.
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import { dialServer } from "./dial-server.ts";
import { createFile } from "./files.ts";

/** The superuser that initdb makes: for the launcher alone. */
export const ROLE = "coinslot";
/** What the service works as: it owns its database, and has no way to files and programs of the system. */
export const APP_ROLE = "coinslot_app";
export const APP_DATABASE = "coinslot";

export interface ServerAccess {
  readonly data: string;
  /** Of the superuser. */
  readonly password: string;
}

export function appUrl(port: number, password: string): string {
  return `postgres://${APP_ROLE}:${password}@127.0.0.1:${port}/${APP_DATABASE}`;
}

/** Runs some statements as the superuser. */
export async function asSuperuser<T>(
  { data, password }: ServerAccess,
  work: (sql: postgres.Sql) => Promise<T>,
): Promise<T> {
  const sql = postgres({
    ...{ host: "127.0.0.1", user: ROLE, password, database: "postgres" },
    ...{ max: 1, connect_timeout: 5, fetch_types: false, onnotice: () => undefined },
    // The client's types do not know it.
    ...{ socket: dialServer(data) },
  });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/**
 * The version of the server, once it has read back a word just written into the folder: a server on a copy of the
 * folder knows the same password. Undefined when it serves another folder; throws what the connection threw.
 */
export async function provenVersion(access: ServerAccess): Promise<string | undefined> {
  const word = randomBytes(12).toString("hex");
  const name = `coinslot-proof-${word}`;
  const path = join(access.data, name);
  // Readable for a server that runs as another user; nobody else can enter the folder.
  await createFile(path, word, { mode: 0o644 });
  try {
    return await asSuperuser(access, async (sql) => {
      const [row] = await sql`
        select pg_read_file(${name}, 0, 100, true) as word, current_setting('server_version') as version`;
      return row?.["word"] === word ? firstWord(String(row["version"])) : undefined;
    });
  } finally {
    await rm(path, { force: true });
  }
}

/** Distributions add their own: "15.14 (Debian 15.14-0+deb12u1)". */
function firstWord(version: string): string {
  return version.split(" ")[0] ?? "";
}
