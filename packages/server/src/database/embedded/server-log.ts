// The log of the server: read for error messages, and kept from growing without end.
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { errorCode, statIfThere } from "./files.ts";

const LIMIT_BYTES = 8 * 1024 * 1024;
const KEEP_BYTES = 1024 * 1024;
const CHECK_EVERY_MS = 10_000;

export async function logSize(path: string): Promise<number> {
  return (await statIfThere(path))?.size ?? 0;
}

/** What the log says past a position, the last 64 KiB of it at most. */
export async function readLogFrom(path: string, position: number): Promise<string> {
  return (await withLog(path, constants.O_RDONLY, (file) => readTail(file, position, 65_536))) ?? "";
}

/**
 * Cuts the log down to its last part when it is too long. PostgreSQL's own log rotation limits the size of one file
 * but not their number. The server appends, so it goes on at the new end.
 */
export async function trimLog(path: string, limitBytes = LIMIT_BYTES, keepBytes = KEEP_BYTES): Promise<void> {
  if ((await logSize(path)) <= limitBytes) return;
  await withLog(path, constants.O_RDWR | constants.O_APPEND, async (file) => {
    const tail = await readTail(file, 0, keepBytes);
    await file.truncate(0);
    await file.appendFile(tail.slice(tail.indexOf("\n") + 1));
  });
}

/** Until the returned function is called. */
export function keepLogShort(path: string, log: (message: string) => void): () => void {
  const timer = setInterval(() => {
    trimLog(path).catch((error: unknown) => log(`The log ${path} could not be shortened: ${String(error)}`));
  }, CHECK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

async function readTail(file: FileHandle, position: number, bytes: number): Promise<string> {
  const { size } = await file.stat();
  const from = Math.max(position, size - bytes);
  const buffer = Buffer.alloc(Math.max(0, size - from));
  const { bytesRead } = await file.read(buffer, 0, buffer.length, from);
  return buffer.toString("utf8", 0, bytesRead);
}

/** Never through a symbolic link: the folder may belong to another account, and we may be root. */
async function withLog<T>(path: string, flags: number, use: (file: FileHandle) => Promise<T>) {
  try {
    const file = await open(path, flags | constants.O_NOFOLLOW);
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
