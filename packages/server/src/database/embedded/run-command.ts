// Runs a program to its end in a clean environment and keeps what it said.
import { spawn } from "node:child_process";

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

export interface CommandResult {
  /** null when the program could not be started or was ended by a signal. */
  readonly code: number | null;
  readonly output: string;
}

export function runCommand({ file, args, ...who }: Command): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      ...who,
      // The caller's folder may be one that the other user cannot enter.
      cwd: "/",
      // Nothing else passes: a locale that this machine lacks stops initdb, and PG* variables would redirect it.
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString("utf8")).slice(-16_384);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", (error) => resolve({ code: null, output: error.message }));
    child.on("close", (code) => resolve({ code, output }));
  });
}
