// Copies the PostgreSQL programs into the home folder when the account that runs them cannot reach them where they are.
import { chmod, cp, mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Home } from "./choose-home.ts";
import { statIfThere } from "./files.ts";
import type { Binaries } from "./find-binaries.ts";
import { runCommand } from "./run-command.ts";

export async function reachableBinaries(binaries: Binaries, { folder, runAs }: Home): Promise<Binaries> {
  if (!runAs.account) return binaries;
  const tried = await runCommand(runAs.command(join(binaries.binDir, "postgres"), ["-V"]));
  if (tried.code === 0) return binaries;
  const copies = join(folder, "programs");
  const wanted = join(copies, binaries.version);
  const binDir = join(wanted, basename(binaries.binDir));
  if (!(await statIfThere(wanted))) {
    const draft = `${wanted}.draft`;
    await mkdir(copies, { recursive: true });
    await chmod(copies, 0o755);
    await rm(draft, { recursive: true, force: true });
    // Still root's: the account may run them and not change them. Programs, lib and share keep their places.
    await cp(dirname(binaries.binDir), draft, { recursive: true, verbatimSymlinks: true });
    await rename(draft, wanted);
    await removeOthers(copies, binaries.version);
  }
  return { ...binaries, binDir };
}

async function removeOthers(copies: string, keep: string): Promise<void> {
  for (const name of await readdir(copies)) {
    if (name !== keep) await rm(join(copies, name), { recursive: true, force: true });
  }
}
