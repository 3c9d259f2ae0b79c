// What people do to a running installation without thinking, and what must not come of it.
import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { createPlace, freePort, type Place, root, until } from "./process.ts";

const run = promisify(execFile);
const bin = join(root, "packages/server/bin/coinslot.mjs");

// Each test starts whole processes and a PostgreSQL of its own.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
afterAll(() => vi.resetConfig());

let place: Place;
beforeEach(async () => {
  place = await createPlace();
});
afterEach(() => place.remove());

async function fails(args: string[], extra: Record<string, string> = {}): Promise<string> {
  const env = { PATH: process.env["PATH"] ?? "", ...extra };
  return run(process.execPath, [bin, ...args], { cwd: place.folder, env }).then(
    () => {
      throw new Error("It did not fail.");
    },
    (error: { stderr: string }) => error.stderr,
  );
}

test("a command in a folder without Coinslot says so, and makes nothing there", async () => {
  for (const args of [
    ["keys", "list"],
    ["keys", "rotate", "--now"],
    ["keys", "revoke", "key_x"],
  ]) {
    const said = await fails(args);
    expect(said.trim().split("\n")).toHaveLength(1);
    expect(said).toContain(`There is no Coinslot in ${join(place.folder, ".coinslot")}`);
  }
  expect(await readdir(place.folder)).toEqual([]);
});

test("a malformed DATABASE_URL is refused without showing the password", async () => {
  for (const url of ["postgres://u:sEcReT@host:99999/db", "postgres://u:sEcReT%zz@host/db", "postgres://"]) {
    const said = await fails(["serve"], { DATABASE_URL: url });
    expect(said).toContain("DATABASE_URL must look like");
    expect(said).not.toContain("sEcReT");
    expect(said.trim().split("\n")).toHaveLength(1);
  }
});

test("another port is another address, and the receipts of the old one still fulfil", async () => {
  const first = place.start();
  await first.ready();
  await place.call("POST", "/api/games", { id: "g", title: "G" });
  const price = { amount: 1, currency: "EUR" };
  await place.call("POST", "/api/games/g/contents", {
    contentIdentifier: "gems",
    type: "CONSUMABLE",
    title: "Gems",
    price,
  });
  const sold = await place.call("POST", "/api/games/g/purchases", {
    userId: "a",
    contentIdentifier: "gems",
    env: "PLAYTEST",
  });
  first.child.kill("SIGTERM");
  await first.exited;

  const port = await freePort();
  const second = place.start({ PORT: String(port) });
  await until("the other port", () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      (response) => response.ok,
      () => false,
    ),
  );
  const { purchaseId } = sold.body["purchase"] as { purchaseId: string };
  const response = await fetch(`http://127.0.0.1:${port}/api/purchases/${purchaseId}/fulfill`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ receiptJwt: sold.body["receiptJwt"] }),
  });
  expect(await response.json()).toEqual({ status: "FULFILLED" });
  second.child.kill("SIGTERM");
  await second.exited;
});

test("SIGTERM to the whole group reaches the service twice through its wrapper, and stops it once", async () => {
  const coinslot = place.start({}, [process.execPath, bin, "serve"]);
  await coinslot.ready();
  process.kill(-(coinslot.child.pid ?? 0), "SIGTERM");
  expect(await coinslot.exited).toBe(0);
  expect(coinslot.output()).toContain("Stopped.");
  expect(await readdir(join(place.folder, ".coinslot"))).not.toContain("coinslot.lock");
});

test("a start that fails after the database was started stops it again", async () => {
  const first = place.start();
  await first.ready();
  first.child.kill("SIGTERM");
  await first.exited;
  await writeFile(join(place.folder, ".coinslot/master.key"), "junk\n");
  const second = place.start();
  expect(await second.exited).toBe(1);
  expect(second.output()).toContain("does not hold a master key");
  const left = await readFile(join(place.folder, ".coinslot/postgres/data/postmaster.pid"), "utf8").catch(
    () => null,
  );
  expect(left).toBeNull();
});
