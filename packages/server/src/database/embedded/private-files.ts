// Keeps the data folder and the secrets in it to their owner, and refuses what somebody else may have put there.
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { StartupError } from "../../startup-error.ts";
import { errorCode } from "./files.ts";

const SECRETS = ["master.key", "operator.token", "postgres.password", "postgres-app.password"];

/** For a data folder that is there; its secrets may be missing. */
export async function keepPrivate(dataDir: string): Promise<void> {
  const me = process.getuid?.();
  if (me === undefined) return;
  const owner = await withFile(dataDir, constants.O_RDONLY | constants.O_DIRECTORY, (folder) =>
    keepFolder(folder, dataDir, me),
  );
  for (const name of SECRETS) {
    const path = join(dataDir, name);
    // A pipe in its place must not make the start wait for ever.
    await withFile(path, constants.O_RDONLY | constants.O_NONBLOCK, (file) =>
      keepSecret(file, path, [me, owner ?? me]),
    );
  }
}

async function keepFolder(folder: FileHandle, path: string, me: number): Promise<number> {
  const { uid, gid, mode } = await folder.stat();
  if (me !== 0 && uid !== me) {
    throw new StartupError(
      `The data folder ${path} cannot be used: it belongs to another user (${uid}). Start Coinslot as that user, or set COINSLOT_DATA_DIR to a folder of your own.`,
    );
  }
  if (me !== 0 && (mode & 0o002) !== 0) {
    throw new StartupError(
      `The data folder ${path} cannot be used: every user can write to it. Check what is in it, then run: chmod 700 ${path}`,
    );
  }
  // Where root runs the server as another account, that account's group may pass through.
  const wanted = me === 0 && gid !== 0 ? 0o700 | (mode & 0o010) : 0o700;
  if (uid === me && (mode & 0o7777) !== wanted) await folder.chmod(wanted);
  return uid;
}

/** Root is trusted anyway: it can read and write every file. */
async function keepSecret(file: FileHandle, path: string, trusted: readonly number[]): Promise<void> {
  const found = await file.stat();
  if (!found.isFile()) throw new StartupError(`${path} is not a file. Find out who put it there.`);
  if (found.uid !== 0 && !trusted.includes(found.uid)) {
    throw new StartupError(
      `${path} belongs to another user (${found.uid}), who may have put it there. Bring back your own, or take it over with chown.`,
    );
  }
  if (found.uid === process.getuid?.() && (found.mode & 0o077) !== 0) await file.chmod(0o600);
}

async function withFile<T>(path: string, flags: number, use: (file: FileHandle) => Promise<T>) {
  try {
    const file = await open(path, flags);
    try {
      return await use(file);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
