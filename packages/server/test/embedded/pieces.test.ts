// Parts of the launcher that a whole start does not reach.
import {
  appendFileSync,
  lstatSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createMissingLinks, findBinaries } from "../../src/database/embedded/find-binaries.ts";
import { lastComplaint } from "../../src/database/embedded/last-complaint.ts";
import { trimLog } from "../../src/database/embedded/server-log.ts";
import { copyPackage, temporaryFolder } from "./helpers.ts";

test("a system without built-in programs is told to set DATABASE_URL", async () => {
  await expect(findBinaries(undefined, "win32-x64")).rejects.toThrow(
    "There is no built-in PostgreSQL for win32-x64: set DATABASE_URL to a PostgreSQL 15 (or later) server of your own.",
  );
});

test("programs that do not run here are told apart from missing ones", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "postgres"), "#!/bin/sh\necho cannot load a library >&2\nexit 127\n", {
    mode: 0o755,
  });
  await expect(findBinaries(folder)).rejects.toThrow(/does not run on this system \(cannot load a library\)/);
});

test("the links that npm's install scripts would make are made when those were switched off", async () => {
  const copy = copyPackage();
  const links: { target: string }[] = JSON.parse(
    readFileSync(join(copy, "native", "pg-symlinks.json"), "utf8"),
  );
  for (const { target } of links) rmSync(join(copy, target), { force: true });
  await createMissingLinks(copy);
  await createMissingLinks(copy);
  expect(links.length).toBeGreaterThan(0);
  for (const { target } of links) {
    expect(lstatSync(join(copy, target)).isSymbolicLink()).toBe(true);
    expect(statSync(join(copy, target)).isFile()).toBe(true);
  }
  expect((await findBinaries(join(copy, "native", "bin"))).major).toBe(18);
});

test("a long log is cut down to its last lines, and never through a link", async () => {
  const folder = temporaryFolder();
  const log = join(folder, "postgres.log");
  for (let line = 0; line < 1_000; line++) appendFileSync(log, `line ${line}\n`);
  await trimLog(log, 1_000, 25);
  expect(readFileSync(log, "utf8")).toBe("line 998\nline 999\n");
  await trimLog(log, 1_000, 25);
  expect(readFileSync(log, "utf8")).toBe("line 998\nline 999\n");
  symlinkSync(log, join(folder, "link.log"));
  await expect(trimLog(join(folder, "link.log"), 1, 1)).rejects.toThrow("ELOOP");
});

test("the line that says what went wrong is picked out of the log", () => {
  const log = [
    "2026-01-01 00:00:00.000 UTC [7] LOG:  starting PostgreSQL",
    '2026-01-01 00:00:00.000 UTC [7] FATAL:  could not open file "global/pg_control": Permission denied',
    "2026-01-01 00:00:00.000 UTC [7] LOG:  database system is shut down",
    "",
  ];
  expect(lastComplaint(log.join("\n"))).toBe('could not open file "global/pg_control": Permission denied');
  expect(lastComplaint("initdb: error: could not create directory\ninitdb: removing data directory\n")).toBe(
    "could not create directory",
  );
  expect(
    lastComplaint(
      "FATAL:  wrote only 1 byte\nHINT:  Check free disk space.\nPANIC:  cannot abort transaction 1\n",
    ),
  ).toBe("the disk is full.");
  expect(lastComplaint("")).toBe("it gave no reason");
});
