// The command line: which command was asked for, with what, and what its exit status is.
import { parseArgs } from "node:util";
import type { Io } from "./commands/io.ts";
import { keys } from "./commands/keys.ts";
import { serve } from "./commands/serve.ts";
import { type Environment, readConfig } from "./config.ts";
import { StartupError } from "./startup-error.ts";

const help = `Usage: coinslot <command>

  serve                 Run the service
  keys list             The signing keys and their states
  keys rotate [--now]   Let the next key sign; the current one retires, its receipts stay valid
  keys revoke KID       Withdraw a compromised key and sign its receipts anew

  --json                Print the result as JSON
  --help                This text

Configuration is read from the environment; README.md lists the variables.
Exit status: 0 done, 1 not done, 2 the command was not understood.`;

export async function runCli(args: readonly string[], environment: Environment, io: Io): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { json: { type: "boolean" }, now: { type: "boolean" }, help: { type: "boolean", short: "h" } },
    });
    const [command, action, kid, ...rest] = positionals;
    if (values.help || command === undefined || command === "help") {
      io.out(help);
      return 0;
    }
    // People at a terminal see trouble only; a program that collects the log sees every request.
    const config = readConfig(environment, { logLevel: io.isTerminal ? "warn" : "info" });
    if (command === "serve" && action === undefined) return await serve(config, io);
    const known = action === "list" || action === "rotate" || action === "revoke";
    if (command === "keys" && known && rest.length === 0 && (action === "revoke") === (kid !== undefined)) {
      return await keys(config, io, { action, kid, json: values.json ?? false, now: values.now ?? false });
    }
    io.err(`coinslot: not a command, or not all of one: ${positionals.join(" ")}. See: coinslot --help`);
    return 2;
  } catch (error) {
    if (error instanceof StartupError) {
      io.err(`coinslot: ${error.message}`);
      return 1;
    }
    if (error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS")) {
      io.err(`coinslot: ${error.message}. See: coinslot --help`);
      return 2;
    }
    throw error;
  }
}
