// Turns calls that arrive at the same time into one statement: a call waits only while an earlier group runs.

/** Too many calls are waiting: answered as `unavailable`. */
export class OverloadError extends Error {
  override name = "OverloadError";
}

export interface GroupCallsOptions<Item, Result> {
  /** Runs a group of one key. Answers in the order of the items; a rejection fails the whole group. */
  readonly run: (key: string, items: readonly Item[]) => Promise<readonly Result[]>;
  readonly groupMaxCount: number;
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
  const waiting = new Map<string, Call<Item, Result>[]>();
  let waitingCount = 0;

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

  const runAll = async (key: string, queue: Call<Item, Result>[]): Promise<void> => {
    while (queue.length > 0) {
      const group = queue.splice(0, options.groupMaxCount);
      waitingCount -= group.length;
      await runGroup(key, group);
    }
    waiting.delete(key);
  };

  return (key, item) =>
    new Promise((resolve, reject) => {
      if (waitingCount >= options.waitingMaxCount) {
        reject(new OverloadError("Too many calls are waiting for the database."));
        return;
      }
      waitingCount++;
      const queue = waiting.get(key);
      if (queue !== undefined) {
        queue.push({ item, resolve, reject });
        return;
      }
      const first = [{ item, resolve, reject }];
      waiting.set(key, first);
      void runAll(key, first);
    });
}
