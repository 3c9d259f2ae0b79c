// The lock that lets one Coinslot at a time use a data folder.
import { randomBytes } from "node:crypto";
import { link, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { StartupError } from "../../startup-error.ts";
import { errorCode, readPlainIfThere } from "./files.ts";
import { bootId, processStart } from "./running-process.ts";

export interface DataDirLock {
  release(): Promise<void>;
}

/** Takes the lock, also from a holder that no longer runs. */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  const path = join(dataDir, "coinslot.lock");
  const start = (await processStart(process.pid)) ?? "";
  const mine = `${process.pid} ${start}@${await bootId()} ${randomBytes(6).toString("hex")}\n`;
  const holder = await take(path, mine, 0);
  if (holder !== undefined) {
    throw new StartupError(
      `Coinslot is already running on ${dataDir} (process ${holder}). Stop it, or set COINSLOT_DATA_DIR to another folder.`,
    );
  }
  return {
    release: async () => {
      if ((await readPlainIfThere(path)) === mine) await rm(path, { force: true });
    },
  };
}

/**
 * The pid of the live holder, or undefined when the lock is ours now.
 *
 * The lock appears complete or not at all (a link to a finished file). A stale lock is only ever replaced by the
 * holder of a second lock beside it, after another look: so of two starters that find the same stale lock, the
 * slower one cannot remove the lock that the faster one has just taken. The second lock is held for an instant and
 * works the same way, so a starter that is killed in that instant blocks nobody.
 */
async function take(path: string, mine: string, depth: number): Promise<number | undefined> {
  const draft = `${path}.${process.pid}-${randomBytes(4).toString("hex")}`;
  await writeFile(draft, mine, { flag: "wx", mode: 0o600 });
  try {
    for (let tries = 0; tries < 500; tries++) {
      if (await linkIfFree(draft, path)) return undefined;
      const seen = await readPlainIfThere(path);
      if (seen === undefined) continue;
      const holder = await liveHolder(seen);
      if (holder !== undefined) return holder;
      if (depth < 3 && (await replaceStale(path, seen, draft, mine, depth))) return undefined;
      await sleep(10);
    }
  } finally {
    await rm(draft, { force: true });
  }
  throw new StartupError(`The lock ${path} could not be taken. If no Coinslot runs there, delete that file.`);
}

async function replaceStale(path: string, seen: string, draft: string, mine: string, depth: number) {
  const guard = `${path}.next`;
  if ((await take(guard, mine, depth + 1)) !== undefined) return false;
  try {
    if ((await readPlainIfThere(path)) !== seen) return false;
    await rename(draft, path);
    return true;
  } finally {
    await rm(guard, { force: true });
  }
}

async function linkIfFree(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

async function liveHolder(lock: string): Promise<number | undefined> {
  const [pidText = "", identity = ""] = lock.trim().split(" ");
  const pid = Number.parseInt(pidText, 10);
  if (!(pid > 0)) return undefined;
  const [start, boot] = identity.split("@");
  const running = await processStart(pid);
  if (running === undefined) return undefined;
  if (running !== "" && start && running !== start) return undefined;
  if (boot && boot !== (await bootId())) return undefined;
  return pid;
}
