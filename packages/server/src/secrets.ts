// The master key and the operator token: from the configuration, else kept in the data folder and made there once.
import { randomBytes } from "node:crypto";
import { link, mkdir, open, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Config, parseMasterKey } from "./config.ts";
import { codeOf } from "./database/connect.ts";
import { readIfThere, syncFolder } from "./database/embedded/files.ts";
import { keepPrivate } from "./database/embedded/private-files.ts";
import { StartupError } from "./startup-error.ts";
import { makeToken } from "./tokens/access-token.ts";

export interface Secrets {
  readonly masterKey: Buffer;
  readonly operatorToken: string;
  /** Where the operator finds the token. */
  readonly operatorTokenFile: string | null;
}

export async function loadSecrets(
  config: Pick<Config, "masterKey" | "operatorToken" | "dataDir">,
): Promise<Secrets> {
  const keyFile = join(config.dataDir, "master.key");
  const tokenFile = join(config.dataDir, "operator.token");
  if (config.masterKey === null || config.operatorToken === null) {
    await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
    await keepPrivate(config.dataDir);
  }
  const masterKey =
    config.masterKey ?? parseMasterKey(await readOrMake(keyFile, () => randomBytes(32).toString("hex")));
  if (masterKey === null) {
    throw new StartupError(
      `${keyFile} does not hold a master key. Restore it from a backup: without it no signing key opens.`,
    );
  }
  return {
    masterKey,
    operatorToken: config.operatorToken ?? (await keptToken(tokenFile)),
    operatorTokenFile: config.operatorToken === null ? tokenFile : null,
  };
}

/** The same form that COINSLOT_OPERATOR_TOKEN must have; an empty token would let everybody in or nobody. */
async function keptToken(path: string): Promise<string> {
  const token = await readOrMake(path, () => makeToken("cso_", randomBytes));
  if (/^[\x21-\x7e]{32,512}$/.test(token)) return token;
  throw new StartupError(
    `${path} does not hold an operator token (32 to 512 visible ASCII characters). Delete it: the next start makes a new one.`,
  );
}

/** The file appears complete or not at all, also when the disk is full. */
async function readOrMake(path: string, make: () => string): Promise<string> {
  const there = await readIfThere(path);
  if (there !== undefined) return there.trim();
  const draft = `${path}.${randomBytes(6).toString("hex")}.draft`;
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(`${make()}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(draft, path);
  } catch (error) {
    // Another start was faster: its secret counts.
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    await rm(draft, { force: true });
  }
  await syncFolder(dirname(path));
  return (await readFile(path, "utf8")).trim();
}
