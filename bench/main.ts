// The command line of the benchmarks: `npm run bench -- <name> [--check] [--json] [--profile=<folder>]`.
import { createCleanup } from "./cleanup.ts";
import { benchFulfill } from "./fulfill.ts";
import { createProgress } from "./progress.ts";
import { benchPurchase } from "./purchase.ts";
import { type Report, renderReport } from "./report.ts";
import type { Bench } from "./setting.ts";

const benches: Readonly<Record<string, Bench>> = { fulfill: benchFulfill, purchase: benchPurchase };

const words = process.argv.slice(2);
const names = words.filter((word) => !word.startsWith("--"));
const options = words.filter((word) => word.startsWith("--"));
const [name = ""] = names;
const bench = Object.hasOwn(benches, name) ? benches[name] : undefined;

if (
  bench === undefined ||
  names.length !== 1 ||
  options.some((option) => !/^--(check|json|profile=.+)$/.test(option))
) {
  console.error(
    `Usage: npm run bench -- <${Object.keys(benches).join("|")}> [--check] [--json] [--profile=<folder>]`,
  );
  process.exit(2);
}

const profileFolder = options.find((option) => option.startsWith("--profile="))?.slice("--profile=".length);
const cleanup = createCleanup();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    console.error("\nStopping and cleaning up.");
    void cleanup.run().finally(() => process.exit(signal === "SIGINT" ? 130 : 143));
  });
}

const progress = createProgress();
try {
  const report: Report = await bench({ cleanup, progress, profileFolder });
  progress.clear();
  console.log(options.includes("--json") ? JSON.stringify(report, null, 2) : renderReport(report));
  if (options.includes("--check") && report.ratios.some((ratio) => ratio.pass === false))
    process.exitCode = 1;
} catch (error) {
  // Once a signal has come, what fails is only what the cleaning up took away.
  if (!cleanup.running()) {
    progress.clear();
    console.error(error);
    process.exitCode = 1;
  }
} finally {
  await cleanup.run();
}
