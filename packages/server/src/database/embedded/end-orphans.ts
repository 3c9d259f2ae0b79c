// Deals with children of a server that was killed: PostgreSQL does not start again while one of them runs.
import { readdir } from "node:fs/promises";
import { poll } from "./poll.ts";
import { worksIn } from "./postmaster-file.ts";
import { processStart, signal } from "./running-process.ts";

/** Most notice within milliseconds and end; one in the middle of a long computation notices at its end. */
const GRACE_MS = 2_000;

/** Only for a folder whose server is dead. Where there is no /proc, PostgreSQL's own refusal has to be waited out. */
export async function endOrphans(data: string, log: (message: string) => void): Promise<void> {
  if (process.platform !== "linux") return;
  const gone = () =>
    poll({ everyMs: 20, timeoutMs: GRACE_MS }, async () => ((await anyOrphan(data)) ? undefined : true));
  if (await gone()) return;
  const left = await orphans(data);
  log(`Ending ${left.length} process(es) that a killed PostgreSQL left behind.`);
  // What an immediate shutdown sends: nothing acknowledged is lost, the next start recovers it.
  for (const pid of left) signal(pid, "SIGQUIT");
  await gone();
}

async function anyOrphan(data: string): Promise<boolean> {
  return (await orphans(data)).length > 0;
}

async function orphans(data: string): Promise<number[]> {
  const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 0);
  const found: number[] = [];
  for (const pid of pids) {
    if ((await worksIn(pid, data)) && (await processStart(pid)) !== undefined) found.push(pid);
  }
  return found;
}
