// Starts the PostgreSQL that comes with Coinslot on a data folder, or takes over the one that already runs there.
import { lstat, mkdir, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StartupError } from "../../startup-error.ts";
import { adoptServer, type RunningServer } from "./adopt-server.ts";
import { ensureAppRole } from "./app-role.ts";
import { databaseExists } from "./check-version.ts";
import { chooseHome, type Home } from "./choose-home.ts";
import { appUrl, provenVersion } from "./connection.ts";
import { createDatabase } from "./create-database.ts";
import { type Dial, dialServer } from "./dial-server.ts";
import { explainFailure } from "./explain-failure.ts";
import { errorCode } from "./files.ts";
import { type Binaries, findBinaries } from "./find-binaries.ts";
import { launchServer } from "./launch-server.ts";
import { type DataDirLock, lockDataDir } from "./lock-data-dir.ts";
import { ownHome } from "./own-home.ts";
import { ensureAppPassword, readPassword } from "./password.ts";
import { keepPrivate } from "./private-files.ts";
import { reachableBinaries } from "./reachable-binaries.ts";
import { keepLogShort, trimLog } from "./server-log.ts";
import { stopServer } from "./stop-server.ts";
import { superviseServer } from "./supervise-server.ts";

export interface EmbeddedPostgres {
  /**
   * For any PostgreSQL client; holds the password of a role without special rights. Changes when the server died and
   * its port was taken before it was started again.
   */
  readonly url: string;
  /** Connects to the server and to nobody else, at whatever port it is now. */
  readonly dial: Dial;
  /** True when the server was already running, left behind by a Coinslot that was killed. */
  readonly adopted: boolean;
  /** Changes when the server died and was started again. */
  readonly pid: number;
  /** Stops the server, waits until it is gone, and gives the data folder free. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  /** Coinslot's data folder; made when it is missing. */
  readonly dataDir: string;
  readonly log: (message: string) => void;
  /** Where initdb, pg_ctl and postgres are, when not those that npm installed. */
  readonly binDir?: string;
  /** False makes root run the server as an unprivileged user even where user namespaces work. */
  readonly allowNamespaces?: boolean;
}

export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const locks: DataDirLock[] = [];
  try {
    return await startLocked(options, locks);
  } catch (error) {
    await release(locks);
    throw explainFailure(error, options.dataDir);
  }
}

async function startLocked(options: EmbeddedOptions, locks: DataDirLock[]): Promise<EmbeddedPostgres> {
  const { log } = options;
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  const dataDir = await realpath(options.dataDir);
  await keepPrivate(dataDir);
  locks.push(await lockDataDir(dataDir));
  const binaries = await findBinaries(options.binDir);
  const home = await chooseHome(dataDir, options.allowNamespaces ?? true);
  // A copy of the data folder points to the same home: the second of the two must not adopt the first one's server.
  if (dirname(home.folder) !== dataDir) locks.push(await lockDataDir(home.folder));

  const data = join(home.folder, "data");
  if (home.runAs.account) await refuseLink(data);
  const exists = await databaseExists(data, binaries);
  const password = await readPassword(dataDir, exists);
  const appPassword = await ensureAppPassword(dataDir);
  const adopt = () => adoptServer({ data, password, version: binaries.version, log });
  const running = exists ? await adopt() : undefined;
  const server = running ?? (await startNew(home, binaries, password, exists, log));
  try {
    await ensureAppRole({ data, password }, appPassword);
  } catch (error) {
    await stopServer(server.pid, data, log);
    throw unusable(data, error);
  }
  const supervisor = superviseServer(server, {
    data,
    log,
    // At the same port, unless that was taken meanwhile.
    restart: async () => (await adopt()) ?? (await startNew(home, binaries, password, true, log)),
  });

  const stopTrimming = keepLogShort(join(home.folder, "postgres.log"), log);
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    stopTrimming();
    await stopServer(await supervisor.end(), data, log);
    await server.launcherEnded;
    await release(locks);
  };
  return {
    get url() {
      return appUrl(supervisor.current().port, appPassword);
    },
    dial: dialServer(data),
    adopted: running !== undefined,
    get pid() {
      return supervisor.current().pid;
    },
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}

async function startNew(
  home: Home,
  installed: Binaries,
  password: string,
  exists: boolean,
  log: (message: string) => void,
): Promise<RunningServer> {
  await ownHome(home);
  const binaries = await reachableBinaries(installed, home);
  if (!exists) await createDatabase(home, binaries, password);
  await trimLog(join(home.folder, "postgres.log"));
  const server = await launchServer(home, binaries);
  const data = join(home.folder, "data");
  try {
    const version = await provenVersion({ data, password });
    if (version === undefined) throw new Error("another server answers at its port");
    return server;
  } catch (error) {
    await stopServer(server.pid, data, log);
    throw unusable(data, error);
  }
}

function unusable(data: string, error: unknown): StartupError {
  const reason = error instanceof Error ? error.message : String(error);
  return new StartupError(`PostgreSQL started on ${data} but cannot be used: ${reason}.`, { cause: error });
}

/** The account owns the folder around it, and could lead root to write elsewhere. */
async function refuseLink(data: string): Promise<void> {
  try {
    if ((await lstat(data)).isDirectory()) return;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return;
    throw error;
  }
  throw new StartupError(`${data} is not a folder of its own: put the database itself there.`);
}

async function release(locks: readonly DataDirLock[]): Promise<void> {
  for (const lock of locks.toReversed()) await lock.release();
}
