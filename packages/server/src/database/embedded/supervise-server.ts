// Looks after the running server: one that dies (killed, out of memory) is started again.
import { setTimeout as sleep } from "node:timers/promises";
import type { RunningServer } from "./adopt-server.ts";
import { isPostmasterOf } from "./postmaster-file.ts";

const LOOK_EVERY_MS = 250;
const RETRY_AFTER_MS = 1_000;
const RETRY_MAX_MS = 30_000;

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

  /** Tries until it runs again or looking has ended; says each reason once. */
  const restart = async (): Promise<void> => {
    options.log(`PostgreSQL (process ${server.pid}) has died. Starting it again.`);
    let said = "";
    for (let waitMs = RETRY_AFTER_MS; !ended.signal.aborted; waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
      try {
        server = await options.restart();
        options.log(`PostgreSQL runs again (process ${server.pid}, port ${server.port}).`);
        return;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (reason !== said) options.log(`PostgreSQL did not start again: ${reason}`);
        said = reason;
        await pause(waitMs);
      }
    }
  };
  // Unreferenced: looking after the server keeps no process alive.
  const pause = (ms: number) =>
    sleep(ms, undefined, { signal: ended.signal, ref: false }).catch(() => undefined);
  const look = async (): Promise<void> => {
    for (;;) {
      await pause(LOOK_EVERY_MS);
      if (ended.signal.aborted) return;
      // Only a clear no counts: when we cannot look (no more file handles, say), the server is left alone.
      const isGone = await isPostmasterOf(server.pid, options.data).then(
        (runs) => !runs,
        () => false,
      );
      if (isGone) await restart();
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
