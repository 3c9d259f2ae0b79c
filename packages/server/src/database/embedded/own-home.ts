// Makes the home folder, and hands its files to the account under which the server runs.
import { lchown, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Home } from "./choose-home.ts";
import { statIfThere } from "./files.ts";

/** Only for a home on which no server runs. */
export async function ownHome({ folder, runAs }: Home): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const account = runAs.account;
  if (!account || (await statIfThere(folder))?.uid === account.uid) return;
  for (const entry of await readdir(folder, { recursive: true })) {
    await lchown(join(folder, entry), account.uid, account.gid);
  }
  // Last, so that an interrupted hand-over is done again.
  await lchown(folder, account.uid, account.gid);
}
