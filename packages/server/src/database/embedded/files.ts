// Small file helpers: reading what may be missing, writing what must survive a power cut.
import { constants } from "node:fs";
import { type FileHandle, open, readFile, rename, stat } from "node:fs/promises";

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** The text of a file; undefined when there is no such file. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * The same for a file in a folder that belongs to the server's account: never through a symbolic link, with which the
 * account could make root read what is not the account's. A link is an error.
 */
export async function readPlainIfThere(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    return await finish(file, () => file.readFile("utf8"));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

export interface CreateOptions {
  readonly mode: number;
  readonly owner?: { readonly uid: number; readonly gid: number };
}

/** Makes a file that must not be there yet. All is done to the open file: its name may lead elsewhere a moment later. */
export async function createFile(path: string, text: string, { mode, owner }: CreateOptions): Promise<void> {
  const file = await open(path, "wx", mode);
  await finish(file, async () => {
    await file.writeFile(text);
    await file.chmod(mode);
    if (owner) await file.chown(owner.uid, owner.gid);
  });
}

async function finish<T>(file: FileHandle, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await file.close();
  }
}

/** What stat says; undefined when there is nothing at that path. */
export async function statIfThere(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes a file that only its owner can read: the whole text or nothing, on disk when this returns. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.draft`;
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
  const file = await open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
  await finish(file, async () => {
    await file.chmod(0o600);
    await file.writeFile(text);
    await file.sync();
  });
  await rename(draft, path);
}

/** Makes a rename inside this folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  await finish(folder, () => folder.sync());
}
