// One Coinslot at a time on a data folder.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { lockDataDir } from "../../src/database/embedded/lock-data-dir.ts";
import {
  afterTest,
  folderWithDatabase,
  removeModel,
  start,
  startService,
  temporaryFolder,
} from "./helpers.ts";

afterAll(removeModel);

test("of two services that start at once, one runs and the other says in one line who does", async () => {
  const dataDir = temporaryFolder();
  const services = [startService([dataDir]), startService([dataDir])];
  const reports = await Promise.all(services.map((service) => service.report));
  const winner = reports.findIndex((report) => report.started);
  expect(reports.filter((report) => report.started)).toHaveLength(1);
  expect(reports.find((report) => report.failed)?.failed).toEqual({
    name: "StartupError",
    message: `Coinslot is already running on ${dataDir} (process ${services[winner]?.child.pid}). Stop it, or set COINSLOT_DATA_DIR to another folder.`,
  });
});

test("a second start in the same process is refused and leaves the first alone", async () => {
  const dataDir = await folderWithDatabase();
  await start(dataDir);
  await expect(start(dataDir)).rejects.toThrow(`already running on ${dataDir} (process ${process.pid})`);
  expect(existsSync(join(dataDir, "coinslot.lock"))).toBe(true);
});

describe("a stale lock", () => {
  async function staleLock(change: (lock: string) => string) {
    const folder = temporaryFolder();
    const path = join(folder, "coinslot.lock");
    const lock = await lockDataDir(folder);
    const content = readFileSync(path, "utf8");
    await lock.release();
    expect(existsSync(path)).toBe(false);
    writeFileSync(path, change(content));
    return folder;
  }

  test.each([
    ["of a process that is gone", (lock: string) => lock.replace(/^\d+/, "4194303")],
    ["from before the machine restarted", (lock: string) => lock.replace(/@\S+/, "@another-boot")],
    ["with nothing in it", () => ""],
    ["with something else in it", () => "hello\n"],
  ])("%s is taken over", async (_name, change) => {
    const folder = await staleLock(change);
    await (await lockDataDir(folder)).release();
    expect(readdirSync(folder)).toEqual([]);
  });

  test.skipIf(process.platform !== "linux")(
    "whose pid another process has by now is taken over",
    async () => {
      const other = spawn("sleep", ["60"]);
      afterTest(() => other.kill());
      const folder = await staleLock((lock) => lock.replace(/^\d+/, String(other.pid)));
      await (await lockDataDir(folder)).release();
    },
  );

  test("is taken over by exactly one of many, round after round", async () => {
    for (let round = 0; round < 20; round++) {
      const folder = await staleLock((lock) => lock.replace(/^\d+/, "4194303"));
      // The instant in which a stale lock is replaced is guarded by a second lock: a stale one of those, too.
      if (round % 2) writeFileSync(join(folder, "coinslot.lock.next"), "4194303 1@x y\n");
      const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => lockDataDir(folder)));
      expect(outcomes.filter((outcome) => outcome.status === "fulfilled")).toHaveLength(1);
      expect(readdirSync(folder)).toEqual(["coinslot.lock"]);
    }
  });
});
