// The address of the embedded server, and the proof that the server at that address is the one on our folder.
import { randomBytes } from "node:crypto";
import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";

export const ROLE = "coinslot";

export function serverUrl(port: number, password: string): string {
  return `postgres://${ROLE}:${password}@127.0.0.1:${port}/postgres`;
}

/**
 * The version of the server, once it has read back a word just written into the folder: a server on a copy of the
 * folder knows the same password. Undefined when it serves another folder; throws what the connection threw.
 */
export async function provenVersion(url: string, data: string): Promise<string | undefined> {
  const word = randomBytes(12).toString("hex");
  const name = `coinslot-proof-${word}`;
  const path = join(data, name);
  // Readable for a server that runs as another user; nobody else can enter the folder.
  await writeFile(path, word, { flag: "wx" });
  await chmod(path, 0o644);
  const sql = postgres(url, { max: 1, connect_timeout: 5, fetch_types: false, onnotice: () => {} });
  try {
    const [row] = await sql`
      select pg_read_file(${name}, 0, 100, true) as word, current_setting('server_version') as version`;
    return row?.["word"] === word ? firstWord(String(row["version"])) : undefined;
  } finally {
    await sql.end({ timeout: 1 });
    await rm(path, { force: true });
  }
}

/** Distributions add their own: "15.14 (Debian 15.14-0+deb12u1)". */
function firstWord(version: string): string {
  return version.split(" ")[0] ?? "";
}
