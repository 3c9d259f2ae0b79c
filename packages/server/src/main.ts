// The entry: the one place that touches the process.
import { runCli } from "./cli.ts";

process.exitCode = await runCli(process.argv.slice(2), process.env, {
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
  isTerminal: process.stdout.isTTY === true,
});
