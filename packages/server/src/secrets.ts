// The master key and the operator token: from the configuration, else kept in the data folder and made there once.
import { randomBytes } from "node:crypto";
import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Config, parseMasterKey } from "./config.ts";
import { codeOf } from "./database/connect.ts";
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
  const masterKey =
    config.masterKey ?? parseMasterKey(await readOrMake(keyFile, () => randomBytes(32).toString("hex")));
  if (masterKey === null) {
    throw new StartupError(
      `${keyFile} does not hold a master key. Restore it from a backup: without it no signing key opens.`,
    );
  }
  return {
    masterKey,
    operatorToken:
      config.operatorToken ?? (await readOrMake(tokenFile, () => makeToken("cso_", randomBytes))),
    operatorTokenFile: config.operatorToken === null ? tokenFile : null,
  };
}

async function readOrMake(path: string, make: () => string): Promise<string> {
  await mkdir(join(path, ".."), { recursive: true, mode: 0o700 });
  try {
    const file = await open(path, "wx", 0o600);
    const secret = make();
    await file.writeFile(`${secret}\n`);
    await file.sync();
    await file.close();
    return secret;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    return (await readFile(path, "utf8")).trim();
  }
}
