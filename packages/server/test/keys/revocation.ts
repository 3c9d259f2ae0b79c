// Revokes keys and signs receipts anew, as the command does, without its long wait.
import { randomBytes } from "node:crypto";
import { expect } from "vitest";
import { type Clock, systemClock } from "../../src/clock.ts";
import { createIds } from "../../src/ids.ts";
import type { KeyDeps } from "../../src/keys/ensure-keys.ts";
import { resignReceipts, revokeKey } from "../../src/keys/revoke-key.ts";
import type { TestService } from "../support/test-service.ts";

export function keyDeps(service: TestService): KeyDeps {
  return { clock: systemClock, ids: createIds(systemClock, randomBytes), masterKey: service.masterKey };
}

export function revoke(service: TestService, kid: string): Promise<boolean> {
  return revokeKey(service.database.sql, keyDeps(service), kid);
}

/**
 * In place of the longest time that a statement may run, waits for what that time is there for: that every
 * statement which ran when the wait began has ended.
 */
async function settle({ database: { sql } }: TestService): Promise<void> {
  const running = async () => {
    const rows = await sql<{ pid: number; queryStart: Date }[]>`
      SELECT pid, query_start FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active'`;
    return rows.map((row) => `${row.pid} ${row.queryStart.getTime()}`);
  };
  const before = await running();
  const left = async () => (await running()).filter((statement) => before.includes(statement));
  await expect.poll(left, { timeout: 10_000, interval: 20 }).toEqual([]);
}

export function resign(
  service: TestService,
  kid: string,
  sleep: Clock["sleep"] = () => settle(service),
): Promise<number> {
  const { database, app } = service;
  const clock = { nowMs: systemClock.nowMs, sleep };
  return resignReceipts({ sql: database.sql, keyring: app.keyring, clock }, kid, () => undefined);
}
