// Decides where the files of the server live and under whom it runs.
import { createHash } from "node:crypto";
import { chmod, mkdir, open, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StartupError } from "../../startup-error.ts";
import { readIfThere, statIfThere, writeDurably } from "./files.ts";
import { canEnter, namespacesWork, type RunAs, runAsAccount, runDirectly, runInNamespace } from "./run-as.ts";
import { unprivilegedAccount } from "./system-accounts.ts";

export interface Home {
  /** Holds the database (data), its log, and, where needed, a copy of the programs. */
  readonly folder: string;
  readonly runAs: RunAs;
}

const REACHABLE_BY_ALL = "/var/lib/coinslot";

export async function chooseHome(dataDir: string, allowNamespaces: boolean): Promise<Home> {
  const usual = join(dataDir, "postgres");
  if (process.getuid?.() !== 0) return { folder: usual, runAs: runDirectly };
  return (await existingHome(dataDir, usual)) ?? (await newHome(dataDir, usual, allowNamespaces));
}

/** Where the files of an existing database are, or would be. */
export async function homeFolder(dataDir: string): Promise<string> {
  const elsewhere = process.getuid?.() === 0 ? (await readIfThere(pointerFile(dataDir)))?.trim() : undefined;
  return elsewhere || join(dataDir, "postgres");
}

/** Files that belong to somebody else than root were written by a server that ran as that user: keep to it. */
async function existingHome(dataDir: string, usual: string): Promise<Home | undefined> {
  const elsewhere = (await readIfThere(pointerFile(dataDir)))?.trim();
  const folder = elsewhere ?? usual;
  const found = await statIfThere(folder);
  if (elsewhere && !found) {
    throw new StartupError(
      `The database of ${dataDir} is kept in ${elsewhere}, which is missing. Bring it back, or delete ${pointerFile(dataDir)} to start empty.`,
    );
  }
  if (!found || found.uid === 0) return undefined;
  if (!elsewhere) await letGroupPass(dataDir, found.gid);
  return { folder, runAs: runAsAccount({ name: `user ${found.uid}`, uid: found.uid, gid: found.gid }) };
}

async function newHome(dataDir: string, usual: string, allowNamespaces: boolean): Promise<Home> {
  const account = await unprivilegedAccount();
  if (!account) {
    throw new StartupError(
      "PostgreSQL does not run as root, and there is no user postgres or nobody here to run it: start Coinslot as an ordinary user, or set DATABASE_URL.",
    );
  }
  const namespace = runInNamespace(account);
  if (allowNamespaces && (await namespacesWork(namespace))) return { folder: usual, runAs: namespace };
  const runAs = runAsAccount(account);
  if (await opened(dataDir, runAs, account.gid)) return { folder: usual, runAs };
  if (await statIfThere(join(usual, "data"))) {
    throw new StartupError(
      `The user ${account.name}, who must run PostgreSQL here, cannot enter ${dataDir}: move that folder to where every user can enter, and set COINSLOT_DATA_DIR to it.`,
    );
  }
  return { folder: await homeElsewhere(dataDir), runAs };
}

/** Lets the account pass through the data folder (not list it) when it can come as far as that. */
async function opened(dataDir: string, runAs: RunAs, gid: number): Promise<boolean> {
  if (await canEnter(runAs, dataDir)) return true;
  if (!(await canEnter(runAs, dirname(dataDir)))) return false;
  await letGroupPass(dataDir, gid);
  return canEnter(runAs, dataDir);
}

/** A folder of somebody else stays as it is. */
async function letGroupPass(dataDir: string, gid: number): Promise<void> {
  const folder = await open(dataDir, "r");
  try {
    const found = await folder.stat();
    if (found.uid !== 0 || (found.gid === gid && (found.mode & 0o777) === 0o710)) return;
    await folder.chown(0, gid);
    await folder.chmod(0o710);
  } finally {
    await folder.close();
  }
}

async function homeElsewhere(dataDir: string): Promise<string> {
  const name = createHash("sha256")
    .update(await realpath(dataDir))
    .digest("hex")
    .slice(0, 16);
  const folder = join(REACHABLE_BY_ALL, name);
  await mkdir(REACHABLE_BY_ALL, { recursive: true });
  await chmod(REACHABLE_BY_ALL, 0o711);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeDurably(pointerFile(dataDir), `${folder}\n`);
  return folder;
}

function pointerFile(dataDir: string): string {
  return join(dataDir, "postgres.location");
}
