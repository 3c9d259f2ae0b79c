// The data folder and the secrets in it stay their owner's.
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { loadSecrets } from "../../src/secrets.ts";
import { StartupError } from "../../src/startup-error.ts";
import {
  folderWithDatabase,
  isRoot,
  NOBODY,
  nobodyCanReadRepository,
  removeModel,
  start,
  startService,
  temporaryFolder,
} from "./helpers.ts";

afterAll(removeModel);

const mode = (path: string) => statSync(path).mode & 0o7777;
const load = (dataDir: string) => loadSecrets({ masterKey: null, operatorToken: null, dataDir });

async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => expect.fail("it was accepted"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StartupError);
  expect((error as Error).message).not.toContain("\n");
  return (error as Error).message;
}

test("a start closes the data folder and the secrets to others", async () => {
  const dataDir = await folderWithDatabase();
  await load(dataDir);
  const names = ["master.key", "operator.token", "postgres.password", "postgres-app.password"];
  for (const name of names) chmodSync(join(dataDir, name), 0o644);
  chmodSync(dataDir, 0o755);
  await start(dataDir);
  expect(mode(dataDir)).toBe(0o700);
  for (const name of names) expect(mode(join(dataDir, name))).toBe(0o600);
});

test("secrets are made once, by one of many, and leave nothing else behind", async () => {
  const dataDir = join(temporaryFolder(), "new");
  const all = await Promise.all(Array.from({ length: 8 }, () => load(dataDir)));
  expect(new Set(all.map(({ operatorToken }) => operatorToken)).size).toBe(1);
  expect(new Set(all.map(({ masterKey }) => masterKey.toString("hex"))).size).toBe(1);
  expect(readdirSync(dataDir).sort()).toEqual(["master.key", "operator.token"]);
  for (const name of readdirSync(dataDir)) expect(mode(join(dataDir, name))).toBe(0o600);
});

test.each(["", "short", `${"a".repeat(40)} ${"b".repeat(40)}`, "é".repeat(40), "x".repeat(513)])(
  "an operator token that cannot be one is refused (%j)",
  async (content) => {
    const dataDir = temporaryFolder();
    const path = join(dataDir, "operator.token");
    writeFileSync(path, `${content}\n`, { mode: 0o600 });
    expect(await refusal(load(dataDir))).toMatch(
      /operator\.token does not hold an operator token .* Delete it/,
    );
    expect(readFileSync(path, "utf8")).toBe(`${content}\n`);
  },
);

describe.skipIf(!isRoot)("with files of somebody else (skipped when not root)", () => {
  test.each(["master.key", "operator.token", "postgres.password"])("%s is refused", async (name) => {
    const dataDir = temporaryFolder();
    const path = join(dataDir, name);
    writeFileSync(path, `${"a".repeat(64)}\n`, { mode: 0o600 });
    chownSync(path, NOBODY.uid, NOBODY.gid);
    expect(await refusal(load(dataDir))).toMatch(/belongs to another user \(65534\)/);
    expect(await refusal(start(dataDir))).toMatch(/belongs to another user \(65534\)/);
    // A folder that is theirs as well is their Coinslot.
    chownSync(dataDir, NOBODY.uid, NOBODY.gid);
    if (name !== "postgres.password") await load(dataDir);
  });

  test.skipIf(!nobodyCanReadRepository())(
    "an ordinary user is refused a folder that all can write to",
    async () => {
      const around = temporaryFolder();
      chmodSync(around, 0o755);
      const dataDir = join(around, "open");
      mkdirSync(dataDir);
      chmodSync(dataDir, 0o777);
      const foreign = await startService([dataDir], NOBODY).report;
      expect(foreign.failed).toMatchObject({ name: "StartupError" });
      expect(foreign.failed?.message).toContain("it belongs to another user (0)");
      chownSync(dataDir, NOBODY.uid, NOBODY.gid);
      const open = await startService([dataDir], NOBODY).report;
      expect(open.failed?.message).toContain("every user can write to it");
    },
  );
});
