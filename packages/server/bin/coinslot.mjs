#!/usr/bin/env node
// Runs the command line from its TypeScript sources.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const tsx = import.meta.resolve("tsx");
const child = spawn(
  process.execPath,
  ["--conditions=coinslot-source", "--import", tsx, main, ...process.argv.slice(2)],
  {
    stdio: "inherit",
    // Its cache lies in the shared temporary folder, where another user could put a file for us to run.
    env: { ...process.env, TSX_DISABLE_CACHE: "1" },
  },
);
// Ctrl-C reaches the child by itself; this process only waits for it.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
  process.exitCode = code ?? (signal === "SIGINT" ? 130 : 1);
});
