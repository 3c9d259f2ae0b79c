// Tries something again and again until it gives an answer or the time is up.
import { setTimeout as sleep } from "node:timers/promises";

export interface PollTimes {
  readonly everyMs: number;
  readonly timeoutMs: number;
}

/** The first answer that is not undefined; undefined when the time is up. */
export async function poll<T>(
  { everyMs, timeoutMs }: PollTimes,
  attempt: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await attempt();
    if (answer !== undefined) return answer;
    if (performance.now() >= deadline) return undefined;
    await sleep(everyMs);
  }
}
