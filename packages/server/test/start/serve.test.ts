// `coinslot serve` as a process: what it prints, how it refuses, how it stops, and what survives a kill.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { createPlace, type Place, root, until } from "./process.ts";

const sh = promisify(execFile);

// Each test starts whole processes and a PostgreSQL of its own.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
afterAll(() => vi.resetConfig());

let place: Place;
beforeEach(async () => {
  place = await createPlace();
});
afterEach(() => place.remove());

async function isCurlHere(): Promise<boolean> {
  return sh("curl", ["--version"]).then(
    () => true,
    () => false,
  );
}

async function postmasterPid(): Promise<number> {
  const file = await readFile(join(place.folder, ".coinslot/postgres/data/postmaster.pid"), "utf8");
  return Number(file.split("\n")[0]);
}

/** A process that has ended but was not waited for yet (a zombie) does not count as alive. */
async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return !/\) [ZX] /.test(stat);
}

/** Sells without pause until told to stop; remembers what was acknowledged. */
async function sell(done: { stop: boolean }): Promise<string[]> {
  const sold: string[] = [];
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (!done.stop) {
        const body = { userId: "ann", contentIdentifier: "gems", env: "PLAYTEST" };
        const answer = await place.call("POST", "/api/games/g/purchases", body).catch(() => null);
        if (answer?.status === 201) sold.push((answer.body["purchase"] as { purchaseId: string }).purchaseId);
        else await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }),
  );
  return sold;
}

async function openShop(): Promise<void> {
  await place.call("POST", "/api/games", { id: "g", title: "G" });
  const price = { amount: 1, currency: "EUR" };
  await place.call("POST", "/api/games/g/contents", {
    contentIdentifier: "gems",
    type: "CONSUMABLE",
    title: "Gems",
    price,
  });
}

async function purchasesInFeed(): Promise<Set<string>> {
  const seen = new Set<string>();
  for (let after = ""; ; ) {
    const { body } = await place.call(
      "GET",
      `/api/games/g/events?limit=200${after === "" ? "" : `&after=${after}`}`,
    );
    for (const event of body["events"] as { purchaseId: string }[]) seen.add(event.purchaseId);
    if (body["nextCursor"] === null) return seen;
    after = String(body["nextCursor"]);
  }
}

test("says where everything is, and the three calls work as printed", async ({ skip }) => {
  const coinslot = place.start();
  await coinslot.ready();
  await until("the welcome", () => coinslot.output().includes("Ctrl-C stops it"));
  const text = coinslot.output();
  expect(text).toContain(`Coinslot is ready at http://localhost:${place.port}`);
  expect(text).toContain(".coinslot/operator.token");
  const calls = text.split("\n").filter((line) => line.trimStart().startsWith("curl "));
  expect(calls).toHaveLength(3);
  if (!(await isCurlHere())) skip("curl is not installed");
  const answers = [];
  for (const call of calls)
    answers.push(JSON.parse((await sh("sh", ["-c", call], { cwd: place.folder })).stdout));
  expect(answers.map((answer) => Object.keys(answer)[0])).toEqual(["game", "content", "purchase"]);
});

test("README's calls work as printed", async ({ skip }) => {
  if (!(await isCurlHere())) skip("curl is not installed");
  const readme = await readFile(join(root, "README.md"), "utf8");
  const blocks = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
  const calls = blocks.filter((code) => code.startsWith("curl "));
  expect(calls).toHaveLength(3);
  const coinslot = place.start();
  await coinslot.ready();
  for (const call of calls) {
    const here = call.replaceAll("localhost:4000", `localhost:${place.port}`);
    expect(here).not.toBe(call);
    const { stdout } = await sh("sh", ["-c", here], { cwd: place.folder });
    expect(Object.keys(JSON.parse(stdout))[0]).toMatch(/^(game|content|purchase)$/);
  }
  const keys = await sh(process.execPath, [join(root, "packages/server/bin/coinslot.mjs"), "keys", "list"], {
    cwd: place.folder,
    env: { ...process.env, DATABASE_URL: "" },
  });
  expect(keys.stdout).toMatch(/ACTIVE[\s\S]*NEXT/);
});

test("one line when it already runs, when the port is taken, and when the configuration is wrong", async () => {
  const first = place.start();
  await first.ready();
  const oneLine = async (extra: Record<string, string>) => {
    const other = place.start(extra);
    expect(await other.exited).toBe(1);
    expect(other.output().trim().split("\n")).toHaveLength(1);
    return other.output();
  };
  expect(await oneLine({})).toMatch(/Port \d+ is taken/);
  const elsewhere = createServer();
  await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
  const { port } = elsewhere.address() as { port: number };
  expect(await oneLine({ PORT: String(port), COINSLOT_DATA_DIR: "other" })).toMatch(/Port \d+ is taken/);
  await new Promise((resolve) => elsewhere.close(resolve));
  expect(await oneLine({ PORT: String(port) })).toMatch(/already running on .* \(process \d+\)/);
  expect(await oneLine({ PORT: "x", DATABASE_URL: "mysql://x" })).toMatch(
    /PORT must be .*; DATABASE_URL must look like/,
  );
  expect(await oneLine({ PORT: String(port), DATABASE_URL: "postgres://x" })).toMatch(
    /COINSLOT_MASTER_KEY must be set .*COINSLOT_OPERATOR_TOKEN must be set/,
  );
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s stops everything and lets requests in flight finish",
  async (signal) => {
    const coinslot = place.start();
    await coinslot.ready();
    await openShop();
    const pid = await postmasterPid();
    const body = { userId: "ann", contentIdentifier: "gems", env: "PLAYTEST" };
    // Each takes some milliseconds of signing: when the first is answered, others are under way.
    const inFlight = Array.from({ length: 100 }, () => place.call("POST", "/api/games/g/purchases", body));
    await Promise.race(inFlight);
    // To the whole group, as a terminal does it.
    process.kill(-(coinslot.child.pid ?? 0), signal);
    const answers = await Promise.allSettled(inFlight);
    // Not one that was taken in is dropped: a request is answered in full, or was never accepted.
    for (const answer of answers) {
      if (answer.status === "fulfilled") expect(answer.value.status).toBe(201);
      else expect(String(answer.reason?.cause?.code)).toMatch(/ECONNREFUSED|UND_ERR_SOCKET|ECONNRESET/);
    }
    expect(answers.filter((answer) => answer.status === "fulfilled").length).toBeGreaterThan(1);
    expect(await coinslot.exited).toBe(0);
    expect(coinslot.output()).toContain("Stopped.");
    expect(await isAlive(pid)).toBe(false);
  },
);

test("kill -9 of the service: the next start takes the database over, and every acknowledged purchase is there", async () => {
  const first = place.start();
  await first.ready();
  await openShop();
  const pid = await postmasterPid();
  const done = { stop: false };
  const selling = sell(done);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  first.child.kill("SIGKILL");
  await first.exited;
  done.stop = true;
  const sold = await selling;
  expect(sold.length).toBeGreaterThan(10);
  const second = place.start();
  await second.ready();
  expect(await postmasterPid()).toBe(pid);
  const seen = await purchasesInFeed();
  expect(sold.filter((id) => !seen.has(id))).toEqual([]);
});

test("kill -9 of PostgreSQL: the service starts it again by itself, and every acknowledged purchase is there", async () => {
  const coinslot = place.start();
  await coinslot.ready();
  await openShop();
  const pid = await postmasterPid();
  const done = { stop: false };
  const selling = sell(done);
  await new Promise((resolve) => setTimeout(resolve, 700));
  process.kill(pid, "SIGKILL");
  await until("another postmaster", async () => (await postmasterPid().catch(() => pid)) !== pid);
  await coinslot.ready();
  await new Promise((resolve) => setTimeout(resolve, 500));
  done.stop = true;
  const sold = await selling;
  const seen = await purchasesInFeed();
  expect(sold.filter((id) => !seen.has(id))).toEqual([]);
  const last = await place.call("POST", "/api/games/g/purchases", {
    userId: "z",
    contentIdentifier: "gems",
    env: "PLAYTEST",
  });
  expect(last.status).toBe(201);
});

test("npm start, and Ctrl-C at its terminal", async () => {
  const coinslot = place.start({ COINSLOT_DATA_DIR: join(place.folder, ".coinslot") }, [
    "npm",
    "start",
    "--prefix",
    root,
  ]);
  await coinslot.ready();
  const pid = await postmasterPid();
  process.kill(-(coinslot.child.pid ?? 0), "SIGINT");
  await coinslot.exited;
  expect(coinslot.output()).toContain("Stopped.");
  expect(await isAlive(pid)).toBe(false);
});
