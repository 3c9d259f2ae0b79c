// Copies the PostgreSQL programs beside the home folder when the account that runs them cannot reach them where they are.
import { chmod, cp, lstat, mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { StartupError } from "../../startup-error.ts";
import type { Home } from "./choose-home.ts";
import { errorCode, statIfThere } from "./files.ts";
import type { Binaries } from "./find-binaries.ts";
import { runCommand } from "./run-command.ts";

/** Not inside the home folder: that is the account's, who could put a link in the place of the programs. */
export function programsFolder(home: string): string {
  return `${home}-programs`;
}

export async function reachableBinaries(binaries: Binaries, { folder, runAs }: Home): Promise<Binaries> {
  if (!runAs.account) return binaries;
  const tried = await runCommand(runAs.command(join(binaries.binDir, "postgres"), ["-V"]));
  if (tried.code === 0) return binaries;
  const copies = programsFolder(folder);
  await makeRootsOwn(copies);
  const wanted = join(copies, binaries.version);
  const binDir = join(wanted, basename(binaries.binDir));
  if (!(await statIfThere(wanted))) {
    const draft = `${wanted}.draft`;
    await rm(draft, { recursive: true, force: true });
    // Still root's: the account may run them and not change them. Programs, lib and share keep their places.
    await cp(dirname(binaries.binDir), draft, { recursive: true, verbatimSymlinks: true });
    await rename(draft, wanted);
    await removeOthers(copies, binaries.version);
  }
  return { ...binaries, binDir };
}

/** A folder that root alone can change, in a folder in which root alone can rename it. */
async function makeRootsOwn(folder: string): Promise<void> {
  await refuseForeign(dirname(folder));
  try {
    await mkdir(folder, { mode: 0o755 });
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
  await refuseForeign(folder);
  await chmod(folder, 0o755);
}

async function refuseForeign(folder: string): Promise<void> {
  const found = await lstat(folder);
  if (found.isDirectory() && found.uid === 0 && (found.mode & 0o022) === 0) return;
  throw new StartupError(
    `Root cannot keep the PostgreSQL programs in ${folder}, which others can change: start Coinslot as an ordinary user, or set COINSLOT_DATA_DIR to a folder of root's.`,
  );
}

async function removeOthers(copies: string, keep: string): Promise<void> {
  for (const name of await readdir(copies)) {
    if (name !== keep) await rm(join(copies, name), { recursive: true, force: true });
  }
}
