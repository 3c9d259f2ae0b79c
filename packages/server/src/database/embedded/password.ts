// The generated passwords of the embedded server, kept in the data folder: the launcher's and the service's.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { StartupError } from "../../startup-error.ts";
import { readIfThere, writeDurably } from "./files.ts";

/** Of the superuser. */
export async function readPassword(dataDir: string, databaseExists: boolean): Promise<string> {
  const path = join(dataDir, "postgres.password");
  const stored = await storedPassword(path);
  if (stored) return stored;
  if (databaseExists) {
    throw new StartupError(`The password of the database is missing: bring back ${path}.`);
  }
  return makePassword(path);
}

/** Of the role that the service works as; a lost one is made anew, and the launcher tells the server. */
export async function ensureAppPassword(dataDir: string): Promise<string> {
  return (await readAppPassword(dataDir)) ?? makePassword(appPasswordFile(dataDir));
}

export async function readAppPassword(dataDir: string): Promise<string | undefined> {
  return storedPassword(appPasswordFile(dataDir));
}

function appPasswordFile(dataDir: string): string {
  return join(dataDir, "postgres-app.password");
}

/** Only what we make ourselves, since it becomes part of an address. */
async function storedPassword(path: string): Promise<string | undefined> {
  const stored = (await readIfThere(path))?.trim() ?? "";
  return /^[\w-]+$/.test(stored) ? stored : undefined;
}

async function makePassword(path: string): Promise<string> {
  const password = randomBytes(24).toString("base64url");
  await writeDurably(path, `${password}\n`);
  return password;
}
