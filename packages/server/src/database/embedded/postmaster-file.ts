// Reads postmaster.pid, in which a server says that it runs on a data folder.
import { readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { createFile, errorCode, readPlainIfThere, statIfThere } from "./files.ts";
import { runCommand } from "./run-command.ts";
import { processStart } from "./running-process.ts";

export interface PostmasterFile {
  readonly text: string;
  readonly pid: number;
  readonly port: number;
  readonly ready: boolean;
}

/** Higher than any pid that Linux or macOS gives out, and one that PostgreSQL accepts. */
const NO_SUCH_PID = 2_147_483_647;

export async function readPostmasterFile(data: string): Promise<PostmasterFile | undefined> {
  const text = await readPlainIfThere(join(data, "postmaster.pid"));
  if (text === undefined) return undefined;
  const lines = text.split("\n").map((line) => line.trim());
  return {
    text,
    pid: Math.abs(Number.parseInt(lines[0] ?? "", 10)) || 0,
    port: Number.parseInt(lines[3] ?? "", 10) || 0,
    ready: lines[7] === "ready",
  };
}

/** True when this very process is a server on this folder, not another one that got a dead server's pid. */
export async function isPostmasterOf(pid: number, data: string): Promise<boolean> {
  if (pid <= 0 || (await processStart(pid)) === undefined) return false;
  if (process.platform !== "linux") {
    const { output } = await runCommand({ file: "ps", args: ["-o", "uid=,command=", "-p", String(pid)] });
    const [uid = ""] = output.trim().split(/\s+/);
    // Some systems write the highest user ids as negative numbers.
    return output.includes("postgres") && Number(uid) >>> 0 === ((await statIfThere(data))?.uid ?? -1) >>> 0;
  }
  return (await worksIn(pid, data)) ?? (await wasStartedOn(pid, data));
}

/**
 * A server and its children work inside its data folder. Compared by inode: right after a rename too.
 * Undefined when we may not look, as root in a container looking at another user's process.
 */
export async function worksIn(pid: number, data: string): Promise<boolean | undefined> {
  if ((await readProc(pid, "comm"))?.trim() !== "postgres") return false;
  try {
    const [cwd, folder] = await Promise.all([stat(`/proc/${pid}/cwd`), stat(data)]);
    return cwd.dev === folder.dev && cwd.ino === folder.ino;
  } catch (error) {
    const code = errorCode(error);
    return code === "EACCES" || code === "EPERM" ? undefined : false;
  }
}

async function wasStartedOn(pid: number, data: string): Promise<boolean> {
  const args = (await readProc(pid, "cmdline"))?.split("\0") ?? [];
  if (!args.includes(data)) return false;
  const [owner, folder] = await Promise.all([statIfThere(`/proc/${pid}`), statIfThere(data)]);
  return owner !== undefined && owner.uid === folder?.uid;
}

async function readProc(pid: number, name: "comm" | "cmdline"): Promise<string | undefined> {
  try {
    return await readFile(`/proc/${pid}/${name}`, "utf8");
  } catch (error) {
    // It has just ended. Anything else (no more file handles, say) does not tell whether it runs.
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ESRCH" || code === "EACCES") return undefined;
    throw error;
  }
}

/**
 * PostgreSQL does not start while the pid in the file belongs to any process of the same user, or when the file is
 * empty. The rest of the file stays: by it PostgreSQL finds out whether children of the dead server still run.
 */
export async function disownPostmasterFile(data: string, file: PostmasterFile): Promise<void> {
  const path = join(data, "postmaster.pid");
  if (file.pid === 0) return rm(path, { force: true });
  const owner = process.getuid?.() === 0 ? await stat(data) : undefined;
  const draft = `${path}.stale`;
  await rm(draft, { force: true });
  const text = file.text.replace(/^.*$/m, String(NO_SUCH_PID));
  await createFile(draft, text, { mode: 0o600, ...(owner && { owner }) });
  await rename(draft, path);
}
