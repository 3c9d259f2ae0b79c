// Makes a new database: all of it, or nothing that a later start could stumble over.
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { StartupError } from "../../startup-error.ts";
import type { Home } from "./choose-home.ts";
import { ROLE } from "./connection.ts";
import { createFile, syncFolder } from "./files.ts";
import type { Binaries } from "./find-binaries.ts";
import { lastComplaint } from "./last-complaint.ts";
import { runCommand } from "./run-command.ts";
import { INITIAL_SETTINGS } from "./settings.ts";

const DRAFT = "initdb-";

/** initdb works in a folder beside the real one, which gets its name once everything is on disk. */
export async function createDatabase(home: Home, binaries: Binaries, password: string): Promise<void> {
  await removeDrafts(home);
  const draft = join(home.folder, `${DRAFT}${randomBytes(6).toString("hex")}`);
  const passwordFile = `${draft}.password`;
  const account = home.runAs.account;
  await createFile(passwordFile, `${password}\n`, { mode: 0o600, ...(account && { owner: account }) });
  const { code, output } = await runCommand(
    home.runAs.command(join(binaries.binDir, "initdb"), [
      ...["--pgdata", draft, "--username", ROLE, "--pwfile", passwordFile],
      ...["--auth", "scram-sha-256", "--encoding", "UTF8", "--data-checksums", "--no-instructions"],
      ...locale(binaries.major),
    ]),
  );
  if (code !== 0) {
    await removeDrafts(home);
    throw new StartupError(`The database could not be made in ${home.folder}: ${lastComplaint(output)}`);
  }
  await addSettings(join(draft, "postgresql.conf"), account?.uid);
  await rm(passwordFile);
  await rename(draft, join(home.folder, "data"));
  await syncFolder(home.folder);
}

/** Sorted by code point, so an upgrade of the system's locales cannot break an index. */
function locale(major: number): string[] {
  const builtin = ["--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"];
  return major >= 17 ? ["--locale", "C", ...builtin] : ["--locale", "C"];
}

/** The folder may belong to another account, and we may be root: never through a link, and only into a file of theirs. */
async function addSettings(path: string, uid: number | undefined): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW);
  try {
    if (uid !== undefined && (await file.stat()).uid !== uid) {
      throw new StartupError(`The file ${path} does not belong to the user who made the database.`);
    }
    await file.appendFile(INITIAL_SETTINGS);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function removeDrafts({ folder, runAs }: Home): Promise<void> {
  const drafts = (await readdir(folder)).filter((name) => name.startsWith(DRAFT));
  for (const path of drafts.map((name) => join(folder, name))) {
    // With the account's own rights: root could be led out of the folder by a link put there meanwhile.
    if (runAs.account) await runCommand(runAs.command("/bin/rm", ["-rf", "--", path]));
    else await rm(path, { recursive: true, force: true, maxRetries: 5 });
  }
}
