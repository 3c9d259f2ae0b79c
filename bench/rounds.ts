// Runs the sides of a comparison in turns, so that what else the machine does hits all of them alike.
import { performance } from "node:perf_hooks";

export interface Measured {
  readonly perSecond: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** CPU time of the service's process for one request; PostgreSQL's and the load generator's are not in it. */
  readonly cpuUsPerRequest: number | null;
}

export interface Side {
  readonly name: string;
  readonly measure: () => Promise<Measured>;
}

export interface SideResult extends Measured {
  readonly name: string;
  readonly rounds: readonly Measured[];
}

export interface RoundsOptions {
  readonly warmUps: number;
  readonly rounds: number;
  /** No round begins later than this after the first, so that a busy machine gets fewer rounds, not a longer run. */
  readonly measureMaxMs: number;
  /** Before each side's turn. */
  readonly prepare?: () => Promise<unknown>;
  readonly onTurn: (round: string) => void;
}

/** Every round starts with another side. The figures of a side are the medians of its rounds. */
export async function runRounds(sides: readonly Side[], options: RoundsOptions): Promise<SideResult[]> {
  const measured = new Map<string, Measured[]>(sides.map((side) => [side.name, []]));
  let endsAt = Number.POSITIVE_INFINITY;
  for (let round = -options.warmUps; round < options.rounds && performance.now() < endsAt; round++) {
    if (round === 0) endsAt = performance.now() + options.measureMaxMs;
    const start = Math.abs(round) % sides.length;
    for (const side of [...sides.slice(start), ...sides.slice(0, start)]) {
      options.onTurn(`${side.name}, ${round < 0 ? "warming up" : `round ${round + 1} of ${options.rounds}`}`);
      await options.prepare?.();
      const result = await side.measure();
      if (round >= 0) measured.get(side.name)?.push(result);
    }
  }
  return sides.map(({ name }) => {
    const rounds = measured.get(name) ?? [];
    const medianOf = (read: (round: Measured) => number | null) =>
      median(rounds.map(read).filter((value) => value !== null));
    return {
      name,
      rounds,
      perSecond: medianOf((round) => round.perSecond) ?? Number.NaN,
      p50Ms: medianOf((round) => round.p50Ms),
      p99Ms: medianOf((round) => round.p99Ms),
      cpuUsPerRequest: medianOf((round) => round.cpuUsPerRequest),
    };
  });
}

export function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const low = sorted[Math.floor((sorted.length - 1) / 2)];
  const high = sorted[Math.ceil((sorted.length - 1) / 2)];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}
