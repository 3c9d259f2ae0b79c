// Makes a new database: all of it, or nothing that a later start could stumble over.
import { randomBytes } from "node:crypto";
import { chown, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { StartupError } from "../../startup-error.ts";
import type { Home } from "./choose-home.ts";
import { ROLE } from "./connection.ts";
import { syncFolder } from "./files.ts";
import type { Binaries } from "./find-binaries.ts";
import { lastComplaint } from "./last-complaint.ts";
import { runCommand } from "./run-command.ts";
import { INITIAL_SETTINGS } from "./settings.ts";

const DRAFT = "initdb-";

/** initdb works in a folder beside the real one, which gets its name once everything is on disk. */
export async function createDatabase(home: Home, binaries: Binaries, password: string): Promise<void> {
  await removeDrafts(home.folder);
  const draft = join(home.folder, `${DRAFT}${randomBytes(6).toString("hex")}`);
  const passwordFile = `${draft}.password`;
  await writeFile(passwordFile, `${password}\n`, { flag: "wx", mode: 0o600 });
  const account = home.runAs.account;
  if (account) await chown(passwordFile, account.uid, account.gid);
  const { code, output } = await runCommand(
    home.runAs.command(join(binaries.binDir, "initdb"), [
      ...["--pgdata", draft, "--username", ROLE, "--pwfile", passwordFile],
      ...["--auth", "scram-sha-256", "--encoding", "UTF8", "--data-checksums", "--no-instructions"],
      ...locale(binaries.major),
    ]),
  );
  if (code !== 0) {
    await removeDrafts(home.folder);
    throw new StartupError(`The database could not be made in ${home.folder}: ${lastComplaint(output)}`);
  }
  await addSettings(join(draft, "postgresql.conf"));
  await rm(passwordFile);
  await rename(draft, join(home.folder, "data"));
  await syncFolder(home.folder);
}

/** Sorted by code point, so an upgrade of the system's locales cannot break an index. */
function locale(major: number): string[] {
  const builtin = ["--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"];
  return major >= 17 ? ["--locale", "C", ...builtin] : ["--locale", "C"];
}

async function addSettings(path: string): Promise<void> {
  const file = await open(path, "a");
  try {
    await file.appendFile(INITIAL_SETTINGS);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function removeDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.startsWith(DRAFT)) await rm(join(folder, name), { recursive: true, force: true, maxRetries: 5 });
  }
}
