// Tells readers in this process that a game has new events. Only a hint: readers look for themselves as well.
import type { Clock } from "../clock.ts";

export interface EventSignal {
  notify(gameId: string): void;
  /** Resolves on the next event of the game, after `ms`, or when the signal aborts. */
  wait(gameId: string, ms: number, signal: AbortSignal): Promise<void>;
}

export function createEventSignal(clock: Clock): EventSignal {
  const waiting = new Map<string, Set<() => void>>();
  return {
    notify(gameId) {
      const wakes = waiting.get(gameId);
      if (wakes === undefined) return;
      waiting.delete(gameId);
      for (const wake of wakes) wake();
    },
    async wait(gameId, ms, signal) {
      const woken = new AbortController();
      const wake = () => woken.abort();
      const wakes = waiting.get(gameId) ?? new Set();
      waiting.set(gameId, wakes.add(wake));
      await clock.sleep(ms, AbortSignal.any([signal, woken.signal]));
      wakes.delete(wake);
      if (wakes.size === 0 && waiting.get(gameId) === wakes) waiting.delete(gameId);
    },
  };
}
