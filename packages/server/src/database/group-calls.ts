// Turns calls that arrive at the same time into one statement: a call waits only while earlier groups run.

/** Too many calls are waiting: answered as `unavailable`. */
export class OverloadError extends Error {
  override name = "OverloadError";
}

export interface GroupCallsOptions<Item, Result> {
  /** Runs a group of one key. Answers in the order of the items; a rejection fails the whole group. */
  readonly run: (key: string, items: readonly Item[]) => Promise<readonly Result[]>;
  readonly groupMaxCount: number;
  /**
   * Groups that run at once, over all keys; a key has one at a time. Few and full beats many and small: with 16 games
   * at 64 connections, 4 took a third of the database's CPU for each call that one for each game took.
   */
  readonly runningMaxCount: number;
  /** Calls that may wait, over all keys; past it a call is refused rather than queued. */
  readonly waitingMaxCount: number;
}

interface Call<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export type GroupedCall<Item, Result> = (key: string, item: Item) => Promise<Result>;

export function groupCalls<Item, Result>(
  options: GroupCallsOptions<Item, Result>,
): GroupedCall<Item, Result> {
  /** Calls by key. A key is here while it has calls that wait or a group that runs. */
  const queues = new Map<string, Call<Item, Result>[]>();
  /** Keys with calls that wait and no group that runs; first come, first served. */
  const ready: string[] = [];
  let running = 0;
  let waiting = 0;
  let isStarting = false;

  const runGroup = async (key: string, group: readonly Call<Item, Result>[]): Promise<void> => {
    try {
      const results = await options.run(
        key,
        group.map((call) => call.item),
      );
      if (results.length !== group.length)
        throw new Error("A group answered with another number of results.");
      for (const [index, result] of results.entries()) group[index]?.resolve(result);
    } catch (error) {
      for (const call of group) call.reject(error);
    }
  };

  const start = (): void => {
    isStarting = false;
    while (running < options.runningMaxCount) {
      const key = ready.shift();
      if (key === undefined) return;
      const queue = queues.get(key) ?? [];
      const group = queue.splice(0, options.groupMaxCount);
      waiting -= group.length;
      running++;
      void runGroup(key, group).then(() => {
        running--;
        // Behind the keys that came meanwhile: a busy game does not keep a quiet one waiting.
        if (queue.length > 0) ready.push(key);
        else queues.delete(key);
        startSoon();
      });
    }
  };

  /** Once all that has arrived together is in its queue. */
  const startSoon = (): void => {
    if (isStarting || ready.length === 0) return;
    isStarting = true;
    setImmediate(start);
  };

  return (key, item) =>
    new Promise((resolve, reject) => {
      if (waiting >= options.waitingMaxCount) {
        reject(new OverloadError("Too many calls are waiting for the database."));
        return;
      }
      waiting++;
      const call = { item, resolve, reject };
      const queue = queues.get(key);
      if (queue !== undefined) queue.push(call);
      else {
        queues.set(key, [call]);
        ready.push(key);
      }
      startSoon();
    });
}
