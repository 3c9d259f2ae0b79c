// The entry: the one place that touches the process.
import { runCli } from "./cli.ts";

// The terminal may be gone before we are: then there is nobody to tell, but still a database to stop.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);

process.exitCode = await runCli(process.argv.slice(2), process.env, {
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
  isTerminal: process.stdout.isTTY === true,
});
