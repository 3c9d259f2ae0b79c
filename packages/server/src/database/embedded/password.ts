// The generated password of the embedded server, kept in the data folder.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { StartupError } from "../../startup-error.ts";
import { readIfThere, writeDurably } from "./files.ts";

export async function readPassword(dataDir: string, databaseExists: boolean): Promise<string> {
  const path = join(dataDir, "postgres.password");
  const stored = (await readIfThere(path))?.trim();
  if (stored) return stored;
  if (databaseExists) {
    throw new StartupError(`The password of the database is missing: bring back ${path}.`);
  }
  const password = randomBytes(24).toString("base64url");
  await writeDurably(path, `${password}\n`);
  return password;
}
