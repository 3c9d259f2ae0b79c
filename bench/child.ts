// A process of its own for each side, so that none shares an event loop with another: started, asked, ended.
import { fork } from "node:child_process";
import { openSync } from "node:fs";
import { join } from "node:path";
import type { BenchTools, Setting } from "./setting.ts";

interface Question {
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
}
interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

export interface Child {
  /** The caller says what the child's function of that name answers. */
  ask<Result>(name: string, input?: unknown): Promise<Result>;
}

/** Answers "ready" once the child's module has loaded and its `start` is done. Its log goes to a file. */
export async function startChild(
  tools: BenchTools,
  setting: Setting,
  module: string,
  extraArgs: readonly string[] = [],
): Promise<Child> {
  const logFile = openSync(join(setting.folder, `${module}.jsonl`), "a");
  const child = fork(new URL(module, import.meta.url), {
    // Nothing of the shell's environment: an operator's own settings must not change what is measured.
    env: { PATH: process.env["PATH"], NODE_ENV: "production", ...setting.environment },
    execArgv: [...process.execArgv, ...extraArgs],
    serialization: "advanced",
    stdio: ["ignore", logFile, "inherit", "ipc"],
  });
  const waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let count = 0;

  child.on("message", (message) => {
    // Only answerParent writes here.
    const reply = message as Reply;
    const question = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.error === undefined) question?.resolve(reply.result);
    else question?.reject(new Error(`${module}: ${reply.error}`));
  });
  child.once("exit", (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`${module} ended with status ${code}.`));
    waiting.clear();
  });
  tools.cleanup.add(async () => {
    if (child.connected) child.disconnect();
    const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
    await ended;
    clearTimeout(timer);
  });

  const ask = (name: string, input?: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (!child.connected) {
        reject(new Error(`${module} is not running.`));
        return;
      }
      const question: Question = { id: ++count, name, input };
      waiting.set(question.id, { resolve, reject });
      child.send(question);
    });
  await ask("ready");
  return { ask: ask as Child["ask"] };
}

/** In the child: answers by name until the parent lets go, then stops. Ctrl-C is the parent's matter. */
export function answerParent(
  answers: Readonly<Record<string, (input: never) => unknown>>,
  stop: () => Promise<unknown> = async () => undefined,
): void {
  process.on("SIGINT", () => undefined);
  process.once("disconnect", () => void stop().finally(() => process.exit(0)));
  process.on("message", (message) => {
    // Only startChild's ask writes here, and its callers know the input of each answer.
    const { id, name, input } = message as Question;
    const work = async () => (name === "ready" ? undefined : answers[name]?.(input as never));
    const reply = (content: Omit<Reply, "id">) => process.send?.({ id, ...content });
    work().then(
      (result) => reply({ result }),
      (error: unknown) =>
        reply({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  });
}
