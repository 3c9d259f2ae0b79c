// Reads the configuration from the environment, once, and reports every mistake at once.
import { isIP } from "node:net";
import { StartupError } from "./startup-error.ts";

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly baseUrl: string;
  readonly authUrl: string;
  /** Null: the embedded PostgreSQL in the data folder. */
  readonly databaseUrl: string | null;
  readonly databasePoolSize: number;
  readonly dataDir: string;
  /** Null: kept in the data folder, made on the first start. */
  readonly masterKey: Buffer | null;
  readonly operatorToken: string | null;
  readonly trustProxy: readonly string[];
  readonly roles: readonly Role[];
  /** Ranges of addresses that are blocked for webhooks otherwise. */
  readonly webhookAllowCidrs: readonly string[];
  readonly webhookCaFile: string | null;
  readonly attemptsKeepDays: number;
  readonly rateLimits: RateLimits;
  readonly logLevel: LogLevel;
}

/** Sustained requests a second; a burst of ten seconds' worth is let through. 0 turns a limit off. */
export interface RateLimits {
  readonly credential: number;
  readonly address: number;
  readonly failed: number;
}

const roles = ["api", "delivery"] as const;
export type Role = (typeof roles)[number];

const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

export type Environment = Readonly<Record<string, string | undefined>>;

/** 32 bytes in one of the usual spellings; anything that is not exactly that is no key. */
export function parseMasterKey(value: string): Buffer | null {
  // A hexadecimal key that lost some digits may be valid base64, and is not meant as such.
  if (/^[0-9a-f]+$/i.test(value) && value.length !== 64) return null;
  for (const encoding of ["hex", "base64", "base64url"] as const) {
    const key = Buffer.from(value, encoding);
    const spelling = key.toString(encoding);
    if (key.length === 32 && (encoding === "hex" ? spelling === value.toLowerCase() : spelling === value))
      return key;
  }
  return null;
}

export function readConfig(environment: Environment, defaults: { logLevel: LogLevel }): Config {
  const mistakes: string[] = [];
  const read = <T>(name: string, fallback: T, parse: (value: string) => T | Wrong): T => {
    const value = environment[name]?.trim();
    if (value === undefined || value === "") return fallback;
    const parsed = parse(value);
    if (!(parsed instanceof Wrong)) return parsed;
    mistakes.push(`${name} ${parsed.sentence}`);
    return fallback;
  };

  const port = read("PORT", 4000, (value) => integer(value, 1, 65_535));
  const baseUrl = read("COINSLOT_BASE_URL", `http://localhost:${port}`, httpUrl);
  const databaseUrl = read<string | null>("DATABASE_URL", null, postgresUrl);
  const perSecond = (name: string, fallback: number) =>
    read(`COINSLOT_RATE_LIMIT_${name}`, fallback, (value) => integer(value, 0, 1_000_000));
  const config: Config = {
    host: read("HOST", "127.0.0.1", (value) => value),
    port,
    baseUrl,
    authUrl: read("COINSLOT_AUTH_URL", baseUrl, httpUrl),
    databaseUrl,
    databasePoolSize: read("COINSLOT_DATABASE_POOL", 10, (value) => integer(value, 1, 200)),
    dataDir: read("COINSLOT_DATA_DIR", ".coinslot", (value) => value),
    masterKey: read<Buffer | null>(
      "COINSLOT_MASTER_KEY",
      null,
      (value) =>
        parseMasterKey(value) ??
        wrong("must be 32 bytes in hexadecimal or base64, for example from: openssl rand -hex 32"),
    ),
    operatorToken: read<string | null>("COINSLOT_OPERATOR_TOKEN", null, (value) =>
      /^[\x21-\x7e]{32,512}$/.test(value) ? value : wrong("must be 32 to 512 visible ASCII characters"),
    ),
    trustProxy: read<readonly string[]>("COINSLOT_TRUST_PROXY", [], addressRanges),
    roles: read<readonly Role[]>("COINSLOT_ROLES", roles, (value) => {
      const names = value.split(",").map((part) => part.trim());
      const known = roles.filter((role) => names.includes(role));
      return known.length === names.length ? known : wrong(`must be one or more of ${roles.join(", ")}`);
    }),
    webhookAllowCidrs: read<readonly string[]>("COINSLOT_WEBHOOK_ALLOW_CIDRS", [], addressRanges),
    webhookCaFile: read<string | null>("COINSLOT_WEBHOOK_CA_FILE", null, (value) => value),
    attemptsKeepDays: read("COINSLOT_ATTEMPTS_KEEP_DAYS", 90, (value) => integer(value, 1, 3_650)),
    rateLimits: {
      credential: perSecond("CREDENTIAL", 2_000),
      address: perSecond("ADDRESS", 5_000),
      failed: perSecond("FAILED", 50),
    },
    logLevel: read<LogLevel>(
      "COINSLOT_LOG_LEVEL",
      defaults.logLevel,
      (value) =>
        logLevels.find((level) => level === value) ?? wrong(`must be one of ${logLevels.join(", ")}`),
    ),
  };
  if (databaseUrl !== null) {
    for (const [name, value] of [
      ["COINSLOT_MASTER_KEY", config.masterKey],
      ["COINSLOT_OPERATOR_TOKEN", config.operatorToken],
    ] as const) {
      if (value === null && !mistakes.some((mistake) => mistake.startsWith(name))) {
        mistakes.push(`${name} must be set when DATABASE_URL is: make one with: openssl rand -hex 32`);
      }
    }
  }
  if (mistakes.length > 0) throw new StartupError(`The configuration is wrong: ${mistakes.join("; ")}.`);
  return config;
}

/** What a parser answers when a value is wrong. */
class Wrong {
  readonly sentence: string;
  constructor(sentence: string) {
    this.sentence = sentence;
  }
}

function wrong(sentence: string): Wrong {
  return new Wrong(sentence);
}

function integer(value: string, min: number, max: number): number | Wrong {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  return number >= min && number <= max ? number : wrong(`must be a whole number from ${min} to ${max}`);
}

function httpUrl(value: string): string | Wrong {
  const url = URL.canParse(value) ? new URL(value) : null;
  const good =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    !/[?#]/.test(value) &&
    url.username === "" &&
    url.password === "";
  return good
    ? url.href.replace(/\/+$/, "")
    : wrong("must be an http:// or https:// address without a query, for example https://play.example.com");
}

function addressRanges(value: string): string[] | Wrong {
  const ranges = value.split(",").map((part) => part.trim());
  return ranges.every(isAddressRange)
    ? ranges
    : wrong("must be addresses or ranges such as 10.0.0.0/8, separated by commas");
}

function isAddressRange(value: string): boolean {
  const [address = "", bits, ...rest] = value.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

function postgresUrl(value: string): string | Wrong {
  const form =
    "must look like postgres://user:password@host:5432/database, with special characters percent-encoded";
  if (!/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value)) return wrong(form);
  try {
    const { username, password, hostname } = new URL(value);
    decodeURIComponent(username + password);
    return hostname === "" ? wrong(form) : value;
  } catch {
    return wrong(form);
  }
}
