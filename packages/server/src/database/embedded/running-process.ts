// Tells whether a process runs, and tells it from a later one that got the same pid.
import { readFile } from "node:fs/promises";
import { errorCode, readIfThere } from "./files.ts";

/**
 * A word for the start of a running process; undefined when it does not run (a zombie does not).
 * Empty where the system does not tell: then the pid has to do.
 */
export async function processStart(pid: number): Promise<string | undefined> {
  const fields = await statFields(pid);
  if (fields === undefined) return answersSignals(pid) ? "" : undefined;
  const state = fields[0];
  if (state === "Z" || state === "X") return undefined;
  return fields[19];
}

/** Since clock ticks start again with the machine, a start is told apart from one before a restart by this. */
export async function bootId(): Promise<string> {
  return (await readIfThere("/proc/sys/kernel/random/boot_id"))?.trim() ?? "";
}

/** The fields of /proc/<pid>/stat after the name, which may itself hold spaces and brackets: the first is the third. */
async function statFields(pid: number): Promise<string[] | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch (error) {
    // No /proc (macOS), a /proc that hides other users' processes, or a process that has just ended.
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ESRCH" || code === "EACCES") return undefined;
    throw error;
  }
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

/** Sends a signal; a process that is gone by then is no error. */
export function signal(pid: number, name: "SIGINT" | "SIGQUIT"): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}
