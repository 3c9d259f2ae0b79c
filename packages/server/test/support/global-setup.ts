// One PostgreSQL for all tests: DATABASE_URL's, or an embedded one in a temporary folder.
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import type { TestProject } from "vitest/node";
import { systemClock } from "../../src/clock.ts";
import { connect } from "../../src/database/connect.ts";
import { startEmbedded } from "../../src/database/embedded/start-embedded.ts";
import { migrate, readMigrations } from "../../src/database/migrate.ts";
import { createIds } from "../../src/ids.ts";
import { ensureKeys } from "../../src/keys/ensure-keys.ts";
import { databaseNamed } from "./database-url.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The server's address; its database holds nothing of ours. */
    serverUrl: string;
    /** A migrated database to copy, with signing keys in it: making a pair takes a second here and there. */
    templateName: string;
    /** What the template's signing keys are sealed with, in hexadecimal. */
    masterKey: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env["DATABASE_URL"];
  let stopServer = async () => undefined as unknown;
  let serverUrl = given ?? "";
  if (given === undefined || given === "") {
    const dataDir = await mkdtemp(join(tmpdir(), "coinslot-test-"));
    const embedded = await startEmbedded({ dataDir, log: () => undefined });
    serverUrl = embedded.url;
    stopServer = async () => {
      await embedded.stop();
      await rm(dataDir, { recursive: true, force: true });
    };
  }
  const templateName = `coinslot_template_${process.pid}`;
  const admin = postgres(serverUrl, { max: 1, onnotice: () => undefined });
  await admin.unsafe(`DROP DATABASE IF EXISTS ${templateName}`);
  await admin.unsafe(`CREATE DATABASE ${templateName}`);
  const sql = connect(databaseNamed(serverUrl, templateName), { poolSize: 1 });
  await migrate(sql, await readMigrations(), Date.now());
  const masterKey = randomBytes(32);
  await ensureKeys(sql, { clock: systemClock, ids: createIds(systemClock, randomBytes), masterKey });
  await sql.end();
  project.provide("serverUrl", serverUrl);
  project.provide("templateName", templateName);
  project.provide("masterKey", masterKey.toString("hex"));
  return async () => {
    await admin.unsafe(`DROP DATABASE IF EXISTS ${templateName}`);
    await admin.end();
    await stopServer();
  };
}
