// What a benchmark found, and how it is written for a person.
import { arch, cpus } from "node:os";
import { median, type SideResult } from "./rounds.ts";
import { renderTable } from "./table.ts";

/** One figure held against its bar. */
export interface Ratio {
  readonly name: string;
  readonly value: number;
  readonly unit: "" | "ms";
  /** The lowest and highest of the rounds. */
  readonly range: readonly [number, number];
  readonly bar: string | null;
  readonly pass: boolean | null;
}

export interface Report {
  readonly title: string;
  readonly method: string;
  readonly machine: string;
  readonly sides: readonly SideResult[];
  readonly ratios: readonly Ratio[];
}

export function describeMachine(database: string): string {
  const cores = cpus();
  const model = cores[0]?.model.trim();
  const named = model === undefined || model === "" || model === "unknown" ? "" : ` (${model})`;
  return `${cores.length} cores${named}, ${arch()}, Node ${process.versions.node}, ${database}`;
}

/** The median of the rounds' ratios: each divides two turns that ran one after the other. */
export function rateRatio(ours: SideResult, other: SideResult, barMin: number | null): Ratio {
  const values = ours.rounds.map(
    (round, index) => round.perSecond / (other.rounds[index]?.perSecond ?? Number.NaN),
  );
  const value = median(values) ?? Number.NaN;
  return {
    name: `${ours.name} / ${other.name}`,
    value,
    unit: "",
    range: [Math.min(...values), Math.max(...values)],
    bar: barMin === null ? null : `at least ${barMin}`,
    pass: barMin === null ? null : value >= barMin,
  };
}

export function p99Bar(side: SideResult, barMaxMs: number): Ratio {
  const values = side.rounds.map((round) => round.p99Ms ?? Number.NaN);
  const value = median(values) ?? Number.NaN;
  return {
    name: `p99 of ${side.name}`,
    value,
    unit: "ms",
    range: [Math.min(...values), Math.max(...values)],
    bar: `under ${barMaxMs} ms`,
    pass: value < barMaxMs,
  };
}

export function renderReport(report: Report): string {
  const sides = report.sides.map((side) => [
    side.name,
    Math.round(side.perSecond).toLocaleString("en"),
    inMs(side.p50Ms),
    inMs(side.p99Ms),
    side.cpuUsPerRequest === null ? "" : `${Math.round(side.cpuUsPerRequest).toLocaleString("en")} µs`,
  ]);
  const ratios = report.ratios.map(({ name, value, unit, range, bar, pass }) => {
    const show = (figure: number) => (unit === "ms" ? inMs(figure) : figure.toFixed(2));
    return [
      name,
      show(value),
      `${show(range[0])} to ${show(range[1])}`,
      bar ?? "",
      pass === null ? "" : pass ? "PASS" : "MISS",
    ];
  });
  return [
    report.title,
    report.method,
    report.machine,
    "",
    renderTable(["", "per second", "p50", "p99", "service CPU"], sides),
    "",
    renderTable(["", "median", "rounds", "bar", ""], ratios),
  ].join("\n");
}

function inMs(value: number | null): string {
  return value === null ? "" : `${value.toFixed(1)} ms`;
}
