// Small file helpers: reading what may be missing, writing what must survive a power cut.
import { open, readFile, rename, stat } from "node:fs/promises";

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
  const file = await open(draft, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

/** Makes a rename inside this folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
