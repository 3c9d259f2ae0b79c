// Starts the server on its data folder and waits until it takes connections.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { StartupError } from "../../startup-error.ts";
import type { RunningServer } from "./adopt-server.ts";
import type { Home } from "./choose-home.ts";
import type { Binaries } from "./find-binaries.ts";
import { freePort, lastPort } from "./free-port.ts";
import { lastComplaint } from "./last-complaint.ts";
import { poll } from "./poll.ts";
import { readPostmasterFile } from "./postmaster-file.ts";
import { runCommand } from "./run-command.ts";
import { logSize, readLogFrom } from "./server-log.ts";
import { commandLineSettings } from "./settings.ts";

/** Recovery after a crash may take minutes on a slow disk. */
const START_TIMEOUT_S = 600;
const ORPHANS_TIMEOUT_MS = 30_000;

const PORT_TAKEN = /could not create any TCP\/IP sockets|could not bind/;
const ORPHANS_RUN = /shared memory block .* is still in use/;

export async function launchServer(home: Home, binaries: Binaries): Promise<RunningServer> {
  const data = join(home.folder, "data");
  const logFile = join(home.folder, "postgres.log");
  refuseShellCharacters(data, binaries.binDir);
  const deadline = performance.now() + ORPHANS_TIMEOUT_MS;
  let wanted = await lastPort(data);
  for (let ports = 0; ; ) {
    const from = await logSize(logFile);
    const outcome = await tryStart(home, binaries, await freePort(wanted));
    if (typeof outcome === "object") return outcome;
    const said = await readLogFrom(logFile, from);
    if (PORT_TAKEN.test(said) && ++ports < 10) {
      wanted = 0;
    } else if (ORPHANS_RUN.test(said) && performance.now() < deadline) {
      await sleep(200);
    } else {
      throw new StartupError(
        `PostgreSQL did not start: ${lastComplaint(said || outcome)} Its log is ${logFile}.`,
      );
    }
  }
}

/** The running server, or what pg_ctl said when there is none. */
async function tryStart(home: Home, binaries: Binaries, port: number): Promise<RunningServer | string> {
  const data = join(home.folder, "data");
  const before = (await readPostmasterFile(data))?.text;
  const pgCtl = runCommand(
    home.runAs.command(join(binaries.binDir, "pg_ctl"), [
      ...["start", "--wait", "--timeout", String(START_TIMEOUT_S), "--silent", "--pgdata", data],
      ...["--log", join(home.folder, "postgres.log"), "--options", commandLineSettings(port)],
    ]),
  );
  // pg_ctl looks every 100 ms; the file says it at once. pg_ctl still reports a server that ends while starting.
  let ended: string | undefined;
  void pgCtl.then(({ output }) => {
    ended = output;
  });
  const ready = await poll({ everyMs: 5, timeoutMs: START_TIMEOUT_S * 1000 }, async () => {
    const hasEnded = ended;
    const file = await readPostmasterFile(data);
    if (file?.ready && file.text !== before) return { pid: file.pid, port: file.port, launcherEnded: pgCtl };
    return hasEnded;
  });
  return ready ?? "it took too long.";
}

/** pg_ctl puts paths into a shell command between double quotes. */
function refuseShellCharacters(...paths: string[]): void {
  const bad = paths.find((path) => /["$`\\\n]/.test(path));
  if (bad !== undefined) {
    throw new StartupError(`PostgreSQL cannot be started from ${bad}: use a path without ", $, \` and \\.`);
  }
}
