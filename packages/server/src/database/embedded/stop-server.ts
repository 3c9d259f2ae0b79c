// Stops a server and waits until it is gone.
import { poll } from "./poll.ts";
import { isPostmasterOf } from "./postmaster-file.ts";
import { signal } from "./running-process.ts";

/** Fast: open transactions are rolled back. Immediate: the next start recovers, so nothing acknowledged is lost. */
const STEPS = [
  { name: "SIGINT", waitMs: 20_000 },
  { name: "SIGQUIT", waitMs: 10_000 },
] as const;

export async function stopServer(pid: number, data: string, log: (message: string) => void): Promise<void> {
  for (const { name, waitMs } of STEPS) {
    if (!(await isPostmasterOf(pid, data))) return;
    signal(pid, name);
    const gone = await poll({ everyMs: 10, timeoutMs: waitMs }, async () =>
      (await isPostmasterOf(pid, data)) ? undefined : true,
    );
    if (gone) return;
    log(`PostgreSQL (process ${pid}) is still there ${waitMs / 1000} s after ${name}.`);
  }
}
