// Who the server runs as: root by way of a namespace or of another account, and an ordinary user directly.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { namespacesWork, runInNamespace } from "../../src/database/embedded/run-as.ts";
import { unprivilegedAccount } from "../../src/database/embedded/system-accounts.ts";
import * as helpers from "./helpers.ts";

const { afterTest, isRoot, leftOvers, NOBODY, query, start, startService, temporaryFolder } = helpers;
const account = await unprivilegedAccount();
const namespaces = isRoot && account !== undefined && (await namespacesWork(runInNamespace(account)));

describe.skipIf(!namespaces)(
  "as root, with user namespaces (skipped when not root or the kernel forbids them)",
  () => {
    test("starts in a folder that only root can enter, and the files stay root's", async () => {
      const dataDir = temporaryFolder();
      expect(statSync(dataDir).mode & 0o777).toBe(0o700);
      const server = await start(dataDir);
      expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
      expect(statSync(join(dataDir, "postgres", "data", "PG_VERSION")).uid).toBe(0);
    });
  },
);

describe.skipIf(!isRoot)("as root, namespaces forbidden (skipped when not root)", () => {
  test("in a folder that only root can enter: the database is kept where the account can reach it", async () => {
    const dataDir = join(temporaryFolder(), ".coinslot");
    const first = await start(dataDir, { allowNamespaces: false });
    const home = readFileSync(join(dataDir, "postgres.location"), "utf8").trim();
    afterTest(() => rmSync(home, { recursive: true, force: true }));
    expect(home.startsWith("/var/lib/coinslot/")).toBe(true);
    expect(statSync(home)).toMatchObject({ uid: account?.uid });
    expect(statSync(home).mode & 0o777).toBe(0o700);
    await query(first.url, "create table kept as select 42 as answer");
    await first.stop();

    // The choice is kept, also where namespaces would work.
    const second = await start(dataDir);
    expect(await query(second.url, "select answer from kept")).toEqual([{ answer: 42 }]);
    await expect(second.stop()).resolves.toBeUndefined();
    expect(leftOvers(home)).toEqual([]);
  });

  test("programs that the account cannot reach are copied", async () => {
    const hidden = helpers.copyPackage();
    const dataDir = join(reachableFolder(), ".coinslot");
    const server = await start(dataDir, { allowNamespaces: false, binDir: join(hidden, "native", "bin") });
    expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
    const programs = join(dataDir, "postgres-programs");
    expect(statSync(programs).uid).toBe(0);
    await server.stop();

    // The account could put a link there if the folder around it were its own.
    renameSync(programs, `${programs}-aside`);
    symlinkSync(temporaryFolder(), programs);
    const again = start(dataDir, { allowNamespaces: false, binDir: join(hidden, "native", "bin") });
    await expect(again).rejects.toThrow(/^Root cannot keep the PostgreSQL programs in [^\n]+$/);
  });

  test("in a reachable folder: the database stays in it, closed to all but the account", async () => {
    const dataDir = join(reachableFolder(), ".coinslot");
    const server = await start(dataDir, { allowNamespaces: false });
    expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
    expect(statSync(dataDir)).toMatchObject({ uid: 0, gid: account?.gid });
    expect(statSync(dataDir).mode & 0o777).toBe(0o710);
    expect(statSync(join(dataDir, "postgres"))).toMatchObject({ uid: account?.uid });
  });

  test("links that the account put into its folder are not followed", async () => {
    const dataDir = join(reachableFolder(), ".coinslot");
    await (await start(dataDir, { allowNamespaces: false })).stop();
    const secret = join(temporaryFolder(), "secret");
    writeFileSync(secret, "of root\n", { mode: 0o600 });
    const data = join(dataDir, "postgres", "data");
    symlinkSync(secret, join(data, "postmaster.pid"));
    await expect(start(dataDir, { allowNamespaces: false })).rejects.toThrow("a symbolic link is in the way");
    rmSync(join(data, "postmaster.pid"));
    renameSync(data, `${data}-aside`);
    symlinkSync(`${data}-aside`, data);
    await expect(start(dataDir, { allowNamespaces: false })).rejects.toThrow("is not a folder of its own");
    expect(readFileSync(secret, "utf8")).toBe("of root\n");
    expect(statSync(secret)).toMatchObject({ uid: 0 });
  });

  test("a data folder that everybody can enter is closed, and the account still gets through", async () => {
    const dataDir = join(reachableFolder(), ".coinslot");
    mkdirSync(dataDir, { mode: 0o755 });
    await (await start(dataDir, { allowNamespaces: false })).stop();
    chmodSync(dataDir, 0o755);
    chownSync(dataDir, 0, 0);
    const again = await start(dataDir, { allowNamespaces: false });
    expect(await query(again.url, "select 1 as one")).toEqual([{ one: 1 }]);
    expect(statSync(dataDir).mode & 0o777).toBe(0o710);
  });

  test("a database made with namespaces is handed over to the account", async () => {
    const dataDir = join(reachableFolder(), ".coinslot");
    const first = await start(dataDir);
    await query(first.url, "create table kept as select 42 as answer");
    await first.stop();
    const second = await start(dataDir, { allowNamespaces: false });
    expect(await query(second.url, "select answer from kept")).toEqual([{ answer: 42 }]);
  });

  // As in a container: root may not look into other users' processes there.
  const mayDrop = spawnSync("setpriv", ["--bounding-set=-sys_ptrace", "true"]).status === 0;
  test.skipIf(!mayDrop)(
    "without the right to trace: a killed service's server is adopted and stopped",
    async () => {
      const dataDir = join(reachableFolder(), ".coinslot");
      const wrap = ["setpriv", "--bounding-set=-sys_ptrace"];
      const first = startService([dataDir, "no-namespaces"], {}, wrap);
      const { started } = await first.report;
      first.child.kill("SIGKILL");
      await first.ended;
      const second = startService([dataDir, "no-namespaces"], {}, wrap);
      expect((await second.report).started).toEqual({ ...started, adopted: true });
      second.child.kill("SIGTERM");
      await second.ended;
      expect(leftOvers(dataDir)).toEqual([]);
    },
  );
});

const nobodyCan = helpers.nobodyCanReadRepository();
describe.skipIf(isRoot && !nobodyCan)(
  "as an ordinary user (skipped when root and others cannot read this clone)",
  () => {
    test("starts in a folder that only this user can enter, and is adopted after kill -9", async () => {
      const who = isRoot ? NOBODY : {};
      const dataDir = temporaryFolder();
      if (isRoot) chownSync(dataDir, NOBODY.uid, NOBODY.gid);
      const first = startService([dataDir], who);
      const { started } = await first.report;
      expect(started).toMatchObject({ adopted: false });
      expect(await query(started?.url ?? "", "select 1 as one")).toEqual([{ one: 1 }]);
      if (isRoot) expect(statSync(join(dataDir, "postgres", "data")).uid).toBe(NOBODY.uid);
      first.child.kill("SIGKILL");
      await first.ended;
      const second = startService([dataDir], who);
      expect((await second.report).started).toEqual({ ...started, adopted: true });
      second.child.kill("SIGTERM");
      await second.ended;
      expect(leftOvers(dataDir)).toEqual([]);
    });

    test.skipIf(!isRoot)("is told in one line when the folder belongs to somebody else", async () => {
      const dataDir = join(reachableFolder(), "of-root");
      mkdirSync(dataDir, { mode: 0o755 });
      const { failed } = await startService([dataDir], NOBODY).report;
      expect(failed?.name).toBe("StartupError");
      expect(failed?.message).toMatch(
        /^The data folder .*of-root cannot be used: it belongs to another user/,
      );
    });
  },
);

function reachableFolder(): string {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  return folder;
}
