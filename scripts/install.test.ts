// What counts as missing before a start or a test run, and the lock of an install.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { missingPackages, nodeTooOld, npmArguments, takeLock } from "./install.mjs";

const linux = { os: "linux", cpu: "arm64", libc: () => "glibc", exists: () => true };

const lock = {
  packages: {
    "": { name: "workspace" },
    "packages/server": { name: "server", version: "0.1.0" },
    "node_modules/server": { resolved: "packages/server", link: true },
    "node_modules/fastify": { version: "5.0.0" },
    "node_modules/fastify/node_modules/deep": { version: "1.0.0" },
    "node_modules/vitest": { version: "4.0.0", dev: true },
    "node_modules/both": { version: "1.0.0", devOptional: true },
    "node_modules/pg-linux": { version: "18.4.0", optional: true, os: ["linux"], cpu: ["arm64"] },
    "node_modules/pg-darwin": { version: "18.4.0", optional: true, os: ["darwin"], cpu: ["arm64"] },
    "node_modules/tool-glibc": {
      version: "1.0.0",
      dev: true,
      optional: true,
      os: ["linux"],
      libc: ["glibc"],
    },
    "node_modules/tool-musl": { version: "1.0.0", dev: true, optional: true, os: ["linux"], libc: ["musl"] },
    "node_modules/not-windows": { version: "1.0.0", dev: true, optional: true, os: ["!win32"] },
    "node_modules/of-wasm-only": { version: "1.0.0", optional: true },
  },
};

const RUN = ["server", "fastify", "fastify/node_modules/deep", "pg-linux"];
const ALL = [...RUN, "vitest", "both", "tool-glibc", "not-windows"];

function installed(names: string[], changes: Record<string, object> = {}) {
  const all: Record<string, object> = lock.packages;
  const paths = names.map((name) => `node_modules/${name}`);
  return { packages: { ...Object.fromEntries(paths.map((path) => [path, all[path]])), ...changes } };
}

const missing = (record: object | undefined, mode: string, system = linux) =>
  missingPackages(lock, record, mode, system).map((path: string) => path.replace("node_modules/", ""));

describe("what is missing", () => {
  test("everything the mode needs when nothing is installed, and nothing for other systems", () => {
    expect(missing(undefined, "run").sort()).toEqual([...RUN].sort());
    expect(missing(undefined, "all").sort()).toEqual([...ALL].sort());
  });

  test("nothing when all of it is there", () => {
    expect(missing(installed(RUN), "run")).toEqual([]);
    expect(missing(installed(ALL), "all")).toEqual([]);
  });

  test("the tools, when the tests want to run after a first start", () => {
    expect(missing(installed(RUN), "all")).toEqual(["vitest", "both", "tool-glibc", "not-windows"]);
  });

  test("a package at another version", () => {
    const record = installed(RUN, { "node_modules/fastify": { version: "4.9.9" } });
    expect(missing(record, "run")).toEqual(["fastify"]);
  });

  test("a package of this workspace whose link is missing or leads elsewhere", () => {
    expect(missing(installed(RUN.slice(1)), "run")).toEqual(["server"]);
    const record = installed(RUN, { "node_modules/server": { link: true, resolved: "packages/other" } });
    expect(missing(record, "run")).toEqual(["server"]);
  });

  test("a package whose folder was deleted although npm's record has it", () => {
    const system = { ...linux, exists: (path: string) => path !== "node_modules/fastify" };
    expect(missing(installed(RUN), "run", system)).toEqual(["fastify"]);
  });

  test("the package for this libc", () => {
    expect(missing(installed(ALL), "all", { ...linux, libc: () => "musl" })).toEqual(["tool-musl"]);
  });

  test("the package for this processor only", () => {
    expect(missing(installed(RUN.slice(0, 3)), "run", { ...linux, cpu: "x64" })).toEqual([]);
  });
});

describe("what npm is asked to do", () => {
  test("a first start leaves the tools out", () => {
    expect(npmArguments("run", undefined)).toContain("--omit=dev");
  });

  test("a start keeps the tools that are there", () => {
    expect(npmArguments("run", installed(ALL))).toContain("--include=dev");
  });

  test("a test run installs everything", () => {
    expect(npmArguments("all", undefined)).toContain("--include=dev");
  });
});

describe("the version of Node", () => {
  test.each(["20.19.0", "20.20.1", "22.0.0", "100.1.0"])("%s will do", (version) => {
    expect(nodeTooOld(">=20.19", version)).toBeUndefined();
  });

  test.each(["18.20.0", "20.18.9", "9.11.2"])("%s is too old, in one line", (version) => {
    expect(nodeTooOld(">=20.19", version)).toMatch(
      /^Coinslot needs Node 20\.19 or later, and this is [^\n]+$/,
    );
  });
});

describe("the lock of an install", () => {
  function lockFile(): string {
    const folder = mkdtempSync(join(tmpdir(), "coinslot-install-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return join(folder, ".install.lock");
  }

  test("is taken when it is free, and from a process that is gone", () => {
    const path = lockFile();
    expect(takeLock(path, 0)).toBeUndefined();
    expect(readFileSync(path, "utf8")).toBe(String(process.pid));
    // Higher than any pid that a system gives out.
    writeFileSync(path, "2147483647");
    expect(takeLock(path, 5_000)).toBeUndefined();
    expect(readFileSync(path, "utf8")).toBe(String(process.pid));
  });

  test.each([
    ["a process that runs", String(process.ppid)],
    ["nobody knows whom", ""],
  ])("held by %s, is waited for and then given up in one line", (_, holder) => {
    const path = lockFile();
    writeFileSync(path, holder);
    expect(takeLock(path, 300)).toMatch(/^Another install holds [^\n]+ delete that file and try again\.$/);
    expect(readFileSync(path, "utf8")).toBe(holder);
  });

  test("in a folder that is not there, is refused in one line", () => {
    expect(takeLock(join(lockFile(), "x"), 0)).toMatch(/^Cannot install here: [^\n]+$/);
  });
});
