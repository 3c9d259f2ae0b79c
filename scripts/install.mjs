// Installs what is missing before a start or a test run, so that a fresh clone needs no step of its own. Plain Node.
import { spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A message for a person when this Node is older than package.json asks for. */
export function nodeTooOld(engines, version) {
  const wanted = /(\d+)(?:\.(\d+))?/.exec(engines) ?? ["", "0", "0"];
  const [major, minor] = version.split(".").map(Number);
  const [wantedMajor, wantedMinor] = [Number(wanted[1]), Number(wanted[2] ?? 0)];
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return undefined;
  return `Coinslot needs Node ${wantedMajor}.${wantedMinor} or later, and this is ${version}: get a newer one from https://nodejs.org.`;
}

/**
 * The packages of the lockfile that the mode ("run" or "all") needs and that are missing or have another version.
 * `installed` is npm's own record in node_modules; `system` is { os, cpu, libc(), exists(path) }.
 */
export function missingPackages(lock, installed, mode, system) {
  return Object.entries(lock.packages)
    .filter(([path, entry]) => path.includes("node_modules/") && isNeeded(entry, mode, system))
    .filter(([path, entry]) => !isInstalled(path, entry, installed, system))
    .map(([path]) => path);
}

function isNeeded(entry, mode, system) {
  if (mode === "run" && (entry.dev || entry.devOptional)) return false;
  if (!entry.optional) return true;
  // An optional package for any system is only there for the sake of others, for some systems: npm decides.
  if (!entry.os && !entry.cpu) return false;
  return (
    matches(entry.os, () => system.os) &&
    matches(entry.cpu, () => system.cpu) &&
    matches(entry.libc, () => system.libc())
  );
}

function matches(list, value) {
  if (!list) return true;
  if (list.includes(`!${value()}`)) return false;
  return list.includes(value()) || list.every((name) => name.startsWith("!"));
}

function isInstalled(path, entry, installed, system) {
  const found = installed?.packages?.[path];
  if (!found || !system.exists(path)) return false;
  return entry.link
    ? found.link === true && found.resolved === entry.resolved
    : found.version === entry.version;
}

/** What to run, given what is missing: a developer's tools, once there, are kept. */
export function npmArguments(mode, installed) {
  const hasTools = Object.values(installed?.packages ?? {}).some((entry) => entry.dev);
  const tools = mode === "all" || hasTools ? "--include=dev" : "--omit=dev";
  return ["ci", tools, "--include=optional", "--no-audit", "--no-fund"];
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

function thisSystem(root) {
  return {
    os: process.platform,
    cpu: process.arch,
    libc: thisLibc,
    exists: (path) => existsSync(join(root, path)),
  };
}

let libc;

/** The loader that Node itself names at the beginning of its file; process.report would take 20 ms. */
function thisLibc() {
  if (libc === undefined) {
    const start = Buffer.alloc(4096);
    const file = openSync(process.execPath, "r");
    readSync(file, start, 0, start.length, 0);
    closeSync(file);
    libc = start.includes("ld-musl") ? "musl" : "glibc";
  }
  return libc;
}

/** Longer than an install takes over a slow line. */
const LOCK_TIMEOUT_MS = 600_000;

/**
 * Waits while another install of this folder runs; a lock whose process is gone does not count. Returns a message for a
 * person when the lock cannot be had.
 */
export function takeLock(path, timeoutMs = LOCK_TIMEOUT_MS) {
  const deadline = performance.now() + timeoutMs;
  for (let waited = false; ; waited = true) {
    try {
      writeFileSync(path, String(process.pid), { flag: "wx" });
      return undefined;
    } catch (error) {
      if (error.code !== "EEXIST") return `Cannot install here: ${path} cannot be written (${error.code}).`;
    }
    if (performance.now() >= deadline) {
      return `Another install holds ${path} for too long. If none runs, delete that file and try again.`;
    }
    const holder = readText(path);
    if (holder !== "" && !isRunning(Number(holder))) {
      removeStale(path, holder);
      continue;
    }
    if (!waited) console.log(`Waiting for the install that is already under way (process ${holder})...`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
}

function removeStale(path, holder) {
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
    // Somebody else was faster, and this is their new lock: give it back.
    if (readText(aside) !== holder) linkSync(aside, path);
  } catch {
    // Gone by now.
  }
  rmSync(aside, { force: true });
}

function readText(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

function runNpm(root, args) {
  const npm = process.env.npm_execpath;
  const [file, first] = npm?.endsWith(".js") ? [process.execPath, [npm]] : ["npm", []];
  return spawnSync(file, [...first, ...args], { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
}

function main(root, mode) {
  const tooOld = nodeTooOld(readJson(join(root, "package.json")).engines.node, process.versions.node);
  if (tooOld) return tooOld;
  if (mode !== "run" && mode !== "all") return "Usage: node scripts/install.mjs run|all";
  const lock = readJson(join(root, "package-lock.json"));
  if (!lock)
    return "package-lock.json is missing or damaged: bring it back with git checkout package-lock.json.";
  const installed = () => readJson(join(root, "node_modules", ".package-lock.json"));
  const complete = () => missingPackages(lock, installed(), mode, thisSystem(root)).length === 0;
  if (complete()) return undefined;

  // Inside the clone, where only those can write who may install: not in a folder that all users share.
  const lockFile = join(root, ".install.lock");
  const blocked = takeLock(lockFile);
  if (blocked) return blocked;
  try {
    if (complete()) return undefined;
    console.log("Installing what Coinslot needs, once ...");
    const started = performance.now();
    const result = runNpm(root, npmArguments(mode, installed()));
    if (result.status !== 0) {
      const said = `${result.stdout ?? ""}${result.stderr ?? ""}${result.error?.message ?? ""}`.trimEnd();
      return `The install failed: npm said\n${said}`;
    }
    console.log(`Installed in ${((performance.now() - started) / 1000).toFixed(1)} s.`);
    return undefined;
  } finally {
    rmSync(lockFile, { force: true });
  }
}

const self = fileURLToPath(import.meta.url);
if (process.argv[1] && realpathSync(process.argv[1]) === realpathSync(self)) {
  const problem = main(realpathSync(join(self, "..", "..")), process.argv[2]);
  if (problem) {
    console.error(problem);
    process.exitCode = 1;
  }
}
