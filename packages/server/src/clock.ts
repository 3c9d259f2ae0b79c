// Time, passed in: everything that asks what time it is or waits does it through a Clock.
import { setTimeout as delay } from "node:timers/promises";

export interface Clock {
  nowMs(): number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
};
