// Knows whether the database answers, so that requests can be refused at once instead of waiting for one that is away.
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { Sql } from "./connect.ts";

const lookEveryMs = 1_000;
/** Without an answer for this long, the database counts as away. */
const patienceMs = 3_000;

export interface DatabaseWatch {
  isUp(): boolean;
  /** Resolves once the watch has ended, after `stopping`. */
  readonly ended: Promise<void>;
}

export function watchDatabase(deps: {
  sql: Sql;
  clock: Clock;
  log: Log;
  stopping: AbortSignal;
}): DatabaseWatch {
  let isUp = true;
  const note = (answers: boolean): void => {
    if (isUp && !answers)
      deps.log.error("The database does not answer. Requests are turned away until it does.");
    if (!isUp && answers) deps.log.warn("The database answers again.");
    isUp = answers;
  };
  const look = async (): Promise<void> => {
    while (!deps.stopping.aborted) {
      const late = new AbortController();
      // A question that is never answered is asked again, by a new query: the pool drops connections that fail.
      const answer = deps.sql`SELECT 1`.then(
        () => true,
        () => false,
      );
      const tired = deps.clock
        .sleep(patienceMs, AbortSignal.any([late.signal, deps.stopping]))
        .then(() => false);
      const answers = await Promise.race([answer, tired]);
      late.abort();
      if (deps.stopping.aborted) return;
      note(answers);
      await deps.clock.sleep(lookEveryMs, deps.stopping);
    }
  };
  return { isUp: () => isUp, ended: look() };
}
