// Looks after the running server: one that dies (killed, out of memory) is started again.
import { setTimeout as sleep } from "node:timers/promises";
import type { RunningServer } from "./adopt-server.ts";
import { isPostmasterOf } from "./postmaster-file.ts";

const LOOK_EVERY_MS = 250;
const RETRY_AFTER_MS = 1_000;

export interface SuperviseOptions {
  readonly data: string;
  readonly log: (message: string) => void;
  readonly restart: () => Promise<RunningServer>;
}

export interface Supervisor {
  /** The server as it is now. */
  current(): RunningServer;
  /** Stops looking, and says which process is the server now. */
  end(): Promise<number>;
}

export function superviseServer(first: RunningServer, options: SuperviseOptions): Supervisor {
  const ended = new AbortController();
  let server = first;

  const restart = async (): Promise<void> => {
    options.log(`PostgreSQL (process ${server.pid}) has died. Starting it again.`);
    try {
      server = await options.restart();
      options.log(`PostgreSQL runs again (process ${server.pid}, port ${server.port}).`);
    } catch (error) {
      options.log(
        `PostgreSQL did not start again: ${error instanceof Error ? error.message : String(error)}`,
      );
      await pause(RETRY_AFTER_MS);
    }
  };
  // Unreferenced: looking after the server keeps no process alive.
  const pause = (ms: number) =>
    sleep(ms, undefined, { signal: ended.signal, ref: false }).catch(() => undefined);
  const look = async (): Promise<void> => {
    for (;;) {
      await pause(LOOK_EVERY_MS);
      if (ended.signal.aborted) return;
      if (!(await isPostmasterOf(server.pid, options.data))) await restart();
    }
  };
  const looking = look();

  return {
    current: () => server,
    async end() {
      ended.abort();
      await looking;
      return server.pid;
    },
  };
}
