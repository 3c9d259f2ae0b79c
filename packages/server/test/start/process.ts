// A real Coinslot process in a folder of its own, started the way people start it.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../../..", import.meta.url));
const serveCommand = [process.execPath, join(root, "packages/server/bin/coinslot.mjs"), "serve"];

export interface Coinslot {
  readonly child: ChildProcess;
  readonly output: () => string;
  /** Its exit status; null when a signal ended it. */
  readonly exited: Promise<number | null>;
  ready(): Promise<void>;
}

export interface Place {
  readonly folder: string;
  readonly port: number;
  readonly url: string;
  start(extra?: Record<string, string>, command?: readonly string[]): Coinslot;
  token(): Promise<string>;
  call(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: Record<string, unknown> }>;
  remove(): Promise<void>;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** The environment without what would point the process at the tests' own database. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(COINSLOT_|DATABASE_URL$|PORT$|HOST$|NODE_OPTIONS$|VITEST|npm_)/.test(name),
  );
  return Object.fromEntries(entries);
}

export async function createPlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "coinslot-start-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const started: Coinslot[] = [];
  const token = async () => (await readFile(join(folder, ".coinslot/operator.token"), "utf8")).trim();
  return {
    folder,
    port,
    url,
    token,
    start(extra = {}, command = serveCommand) {
      const coinslot = run(command, folder, { ...cleanEnvironment(), PORT: String(port), ...extra }, url);
      started.push(coinslot);
      return coinslot;
    },
    async call(method, path, body) {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${await token()}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    async remove() {
      for (const { child, exited } of started) {
        if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
        await exited;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function run(command: readonly string[], cwd: string, env: NodeJS.ProcessEnv, url: string): Coinslot {
  const [file = "", ...args] = command;
  // A process group of its own, as a terminal gives: a signal to the group is what Ctrl-C sends.
  const child = spawn(file, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
  const exited = new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)));
  return {
    child,
    output: () => text,
    exited,
    async ready() {
      for (;;) {
        if (child.exitCode !== null) throw new Error(`It ended instead of serving:\n${text}`);
        if (
          await fetch(`${url}/readyz`).then(
            (r) => r.ok,
            () => false,
          )
        )
          return;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  };
}

/** Waits until something holds, for half a minute at most. */
export async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Waited in vain: ${what}`);
}
