// `coinslot keys list|rotate|revoke`: the signing keys, beside a running service or without one.
import { randomBytes } from "node:crypto";
import { systemClock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Sql } from "../database/connect.ts";
import { checkMigrated, readMigrations } from "../database/migrate.ts";
import { openBeside } from "../database/open-database.ts";
import { createIds } from "../ids.ts";
import { ensureKeys, type KeyDeps } from "../keys/ensure-keys.ts";
import { openKeyring } from "../keys/keyring.ts";
import { listKeys } from "../keys/list-keys.ts";
import { resignReceipts, revokeKey } from "../keys/revoke-key.ts";
import { rotateKeys } from "../keys/rotate-keys.ts";
import { createLog } from "../log.ts";
import { loadSecrets } from "../secrets.ts";
import type { Io } from "./io.ts";

export interface KeysInput {
  readonly action: "list" | "rotate" | "revoke";
  readonly kid: string | undefined;
  readonly json: boolean;
  readonly now: boolean;
}

export async function keys(config: Config, io: Io, input: KeysInput): Promise<number> {
  const log = createLog("silent");
  const database = await openBeside(config, () => undefined);
  try {
    const { sql } = database;
    await checkMigrated(sql, await readMigrations());
    const { masterKey } = await loadSecrets(config);
    const deps = { clock: systemClock, ids: createIds(systemClock, randomBytes), masterKey };
    await ensureKeys(sql, deps);
    const keyring = await openKeyring({ ...deps, sql, log });
    try {
      if (input.action === "rotate") return await rotate(sql, deps, io, input);
      if (input.action === "revoke") return await revoke(sql, { ...deps, keyring }, io, input);
      return await list(sql, io, input);
    } finally {
      await keyring.stop();
    }
  } finally {
    await database.close();
  }
}

async function list(sql: Sql, io: Io, input: KeysInput): Promise<number> {
  const rows = await listKeys(sql);
  if (input.json) {
    io.out(JSON.stringify({ keys: rows }));
    return 0;
  }
  io.out(`${"KID".padEnd(32)}${"STATE".padEnd(10)}${"CREATED".padEnd(26)}SINCE`);
  for (const row of rows) {
    const since = row.revokedAt ?? row.retiredAt ?? row.activatedAt ?? row.createdAt;
    io.out(
      `${row.kid.padEnd(32)}${row.state.padEnd(10)}${row.createdAt.toISOString().padEnd(26)}${since.toISOString()}`,
    );
  }
  return 0;
}

async function rotate(sql: Sql, deps: KeyDeps, io: Io, input: KeysInput): Promise<number> {
  const outcome = await rotateKeys(sql, deps, { evenIfUnpublished: input.now });
  if (input.json) io.out(JSON.stringify(outcome));
  else if (outcome.rotated) {
    io.out(
      `${outcome.activeKid} signs from now on. ${outcome.retiredKid} is retired; its receipts stay valid.`,
    );
  } else {
    io.err(
      `The next key was published too recently: receivers may not know it before ${outcome.readyAt.toISOString()}. ` +
        "Try again then, or use --now when it cannot wait.",
    );
  }
  return outcome.rotated ? 0 : 1;
}

async function revoke(
  sql: Sql,
  deps: KeyDeps & { keyring: Awaited<ReturnType<typeof openKeyring>> },
  io: Io,
  input: KeysInput,
): Promise<number> {
  const kid = input.kid ?? "";
  const revoked = await revokeKey(sql, deps, kid);
  if (!revoked && !(await listKeys(sql)).some((key) => key.kid === kid)) {
    io.err(`There is no signing key ${kid}. See: coinslot keys list`);
    return 1;
  }
  // Revoking again is how an interrupted run is finished.
  io.err(`${kid} is revoked. Signing its receipts anew; this takes at least 11 seconds ...`);
  const resigned = await resignReceipts({ sql, ...deps }, kid, (count) => io.err(`  signed anew: ${count}`));
  if (input.json) io.out(JSON.stringify({ kid, revoked, resigned }));
  else
    io.out(
      `Done. Receipts signed anew: ${resigned}. Receivers follow when their copy of the key set runs out, within 5 minutes.`,
    );
  return 0;
}
