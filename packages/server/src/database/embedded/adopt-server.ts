// Takes over a server that still runs on the data folder because the Coinslot that started it was killed.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { StartupError } from "../../startup-error.ts";
import { provenVersion } from "./connection.ts";
import { endOrphans } from "./end-orphans.ts";
import { errorCode } from "./files.ts";
import { poll } from "./poll.ts";
import { disownPostmasterFile, isPostmasterOf, readPostmasterFile } from "./postmaster-file.ts";
import { stopServer } from "./stop-server.ts";

export interface RunningServer {
  readonly pid: number;
  readonly port: number;
  /** Settles when pg_ctl has noticed that the server is up, at most 100 ms after we have. */
  readonly launcherEnded?: Promise<unknown>;
}

export interface AdoptOptions {
  readonly data: string;
  readonly password: string;
  /** A server of another version is stopped, and the caller starts the right one. */
  readonly version: string;
  readonly log: (message: string) => void;
}

/** It may be recovering from a crash, which takes as long as its write-ahead log is long. */
const ANSWER_TIMEOUT_MS = 120_000;

/** The server that runs on the folder; undefined when none does, and then nothing keeps one from starting. */
export async function adoptServer(options: AdoptOptions): Promise<RunningServer | undefined> {
  const { data, log } = options;
  let file = await readPostmasterFile(data);
  if (file?.pid === 0) {
    // Written in two steps: a moment later it is complete, unless the machine went down in between.
    await sleep(200);
    file = await readPostmasterFile(data);
  }
  if (file === undefined) return undefined;
  const { pid } = file;
  if (!(await isPostmasterOf(pid, data))) {
    await endOrphans(data, log);
    await disownPostmasterFile(data, file);
    return undefined;
  }
  const answer = await poll({ everyMs: 50, timeoutMs: ANSWER_TIMEOUT_MS }, () => askServer(pid, options));
  if (answer === undefined) {
    throw new StartupError(
      `PostgreSQL (process ${pid}) runs on ${data} but does not answer. Its log is ${join(data, "..", "postgres.log")}.`,
    );
  }
  if (answer === "gone") return adoptServer(options);
  if (answer.version === options.version) return { pid, port: answer.port };
  log(`Stopping PostgreSQL ${answer.version} to start ${options.version}.`);
  await stopServer(pid, data, log);
  return undefined;
}

async function askServer(pid: number, { data, password }: AdoptOptions) {
  if (!(await isPostmasterOf(pid, data))) return "gone";
  const port = (await readPostmasterFile(data))?.port ?? 0;
  if (port === 0) return undefined;
  try {
    const version = await provenVersion({ data, password });
    return version === undefined ? undefined : { version, port };
  } catch (error) {
    if (errorCode(error) === "28P01") {
      throw new StartupError(
        `PostgreSQL (process ${pid}) runs on ${data} and refuses the password in postgres.password.`,
      );
    }
    return undefined;
  }
}
