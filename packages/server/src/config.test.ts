// The configuration: defaults, every variable, and every mistake reported at once.
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type Config, type Environment, parseMasterKey, readConfig } from "./config.ts";
import { StartupError } from "./startup-error.ts";

const read = (environment: Environment) => readConfig(environment, { logLevel: "info" });
const masterKey = randomBytes(32);
const operatorToken = "t".repeat(32);

function mistakeOf(environment: Environment): string {
  try {
    read(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(StartupError);
    return error instanceof Error ? error.message : "";
  }
  throw new Error("The configuration was accepted.");
}

describe("readConfig", () => {
  it("has a default for everything", () => {
    expect(read({})).toEqual({
      host: "127.0.0.1",
      port: 4000,
      baseUrl: "http://localhost:4000",
      authUrl: "http://localhost:4000",
      databaseUrl: null,
      databasePoolSize: 10,
      dataDir: ".coinslot",
      masterKey: null,
      operatorToken: null,
      trustProxy: [],
      roles: ["api", "delivery"],
      webhookAllowCidrs: [],
      webhookCaFile: null,
      attemptsKeepDays: 90,
      rateLimits: { credential: 2_000, address: 5_000, failed: 50 },
      logLevel: "info",
    } satisfies Config);
  });

  it("has rate limits that no honest client meets", () => {
    const { credential, address } = read({}).rateLimits;
    expect(credential).toBeGreaterThanOrEqual(100);
    expect(address).toBeGreaterThanOrEqual(1_000);
  });

  it("reads every variable", () => {
    expect(
      read({
        HOST: "0.0.0.0",
        PORT: "8080",
        COINSLOT_BASE_URL: "https://play.example.com/shop/",
        COINSLOT_AUTH_URL: "https://auth.example.com",
        DATABASE_URL: "postgresql://u:p@db/coinslot",
        COINSLOT_DATABASE_POOL: "25",
        COINSLOT_DATA_DIR: "/var/lib/coinslot",
        COINSLOT_MASTER_KEY: masterKey.toString("hex"),
        COINSLOT_OPERATOR_TOKEN: operatorToken,
        COINSLOT_TRUST_PROXY: "10.0.0.1, 10.1.0.0/16",
        COINSLOT_ROLES: "delivery",
        COINSLOT_WEBHOOK_ALLOW_CIDRS: "10.2.0.0/16,fd00::/8",
        COINSLOT_WEBHOOK_CA_FILE: "ca.pem",
        COINSLOT_ATTEMPTS_KEEP_DAYS: "7",
        COINSLOT_RATE_LIMIT_CREDENTIAL: "1",
        COINSLOT_RATE_LIMIT_ADDRESS: "0",
        COINSLOT_RATE_LIMIT_FAILED: "3",
        COINSLOT_LOG_LEVEL: "debug",
      }),
    ).toEqual({
      host: "0.0.0.0",
      port: 8080,
      baseUrl: "https://play.example.com/shop",
      authUrl: "https://auth.example.com",
      databaseUrl: "postgresql://u:p@db/coinslot",
      databasePoolSize: 25,
      dataDir: "/var/lib/coinslot",
      masterKey,
      operatorToken,
      trustProxy: ["10.0.0.1", "10.1.0.0/16"],
      roles: ["delivery"],
      webhookAllowCidrs: ["10.2.0.0/16", "fd00::/8"],
      webhookCaFile: "ca.pem",
      attemptsKeepDays: 7,
      rateLimits: { credential: 1, address: 0, failed: 3 },
      logLevel: "debug",
    } satisfies Config);
  });

  it("takes the base address for the issuer's, and the port for the base address's", () => {
    expect(read({ COINSLOT_BASE_URL: "https://a.example" }).authUrl).toBe("https://a.example");
    expect(read({ PORT: "4100" }).authUrl).toBe("http://localhost:4100");
  });

  it("takes blank for absent", () => {
    expect(read({ PORT: " ", COINSLOT_MASTER_KEY: "", DATABASE_URL: "\t" })).toEqual(read({}));
  });

  it.each<[name: string, value: string]>([
    ["PORT", "65536"],
    ["PORT", "-1"],
    ["PORT", "80.5"],
    ["PORT", "0x50"],
    ["PORT", "http"],
    ["COINSLOT_BASE_URL", "play.example.com"],
    ["COINSLOT_BASE_URL", "ftp://play.example.com"],
    ["COINSLOT_BASE_URL", "https://u:p@play.example.com"],
    ["COINSLOT_AUTH_URL", "https://auth.example.com/?a=b"],
    ["COINSLOT_AUTH_URL", "https://auth.example.com/#a"],
    ["DATABASE_URL", "mysql://localhost/x"],
    ["COINSLOT_DATABASE_POOL", "0"],
    ["COINSLOT_DATABASE_POOL", "201"],
    ["COINSLOT_MASTER_KEY", "short"],
    ["COINSLOT_MASTER_KEY", "0".repeat(63)],
    ["COINSLOT_MASTER_KEY", "0".repeat(43)],
    ["COINSLOT_MASTER_KEY", `!!${masterKey.toString("base64")}`],
    ["COINSLOT_BASE_URL", "https://play.example.com/?"],
    ["COINSLOT_AUTH_URL", "https://play.example.com/#"],
    ["COINSLOT_TRUST_PROXY", "junk"],
    ["COINSLOT_ROLES", "api,mail"],
    ["COINSLOT_ROLES", "api,api"],
    ["COINSLOT_WEBHOOK_ALLOW_CIDRS", "10.0.0.0/8;"],
    ["COINSLOT_ATTEMPTS_KEEP_DAYS", "0"],
    ["COINSLOT_TRUST_PROXY", "10.0.0.0/33"],
    ["COINSLOT_TRUST_PROXY", "10.0.0.1,"],
    ["COINSLOT_OPERATOR_TOKEN", "t".repeat(31)],
    ["COINSLOT_OPERATOR_TOKEN", "t".repeat(513)],
    ["COINSLOT_OPERATOR_TOKEN", `${"t".repeat(20)} ${"t".repeat(20)}`],
    ["COINSLOT_OPERATOR_TOKEN", "é".repeat(40)],
    ["COINSLOT_RATE_LIMIT_CREDENTIAL", "-1"],
    ["COINSLOT_RATE_LIMIT_ADDRESS", "many"],
    ["COINSLOT_RATE_LIMIT_FAILED", "1000001"],
    ["COINSLOT_LOG_LEVEL", "loud"],
  ])("refuses %s=%j and says what it must be", (name, value) => {
    expect(mistakeOf({ [name]: value })).toMatch(
      new RegExp(`^The configuration is wrong: ${name} must .*\\.$`),
    );
  });

  it("never repeats a secret in its message", () => {
    const secret = "s3cret-but-too-short";
    expect(mistakeOf({ COINSLOT_OPERATOR_TOKEN: secret, COINSLOT_MASTER_KEY: secret })).not.toContain(secret);
    expect(mistakeOf({ DATABASE_URL: `mysql://u:${secret}@h/d` })).not.toContain(secret);
  });

  it("reports every mistake at once, each once, in one line", () => {
    const wrong = {
      PORT: "x",
      COINSLOT_BASE_URL: "x",
      COINSLOT_AUTH_URL: "x",
      DATABASE_URL: "postgres://db/x",
      COINSLOT_DATABASE_POOL: "x",
      COINSLOT_MASTER_KEY: "x",
      COINSLOT_RATE_LIMIT_FAILED: "x",
      COINSLOT_LOG_LEVEL: "x",
    };
    const message = mistakeOf(wrong);
    for (const name of Object.keys(wrong).filter((each) => each !== "DATABASE_URL"))
      expect(message.split(`${name} must`)).toHaveLength(2);
    expect(message).toContain("COINSLOT_OPERATOR_TOKEN must be set when DATABASE_URL is");
    expect(message).not.toContain("\n");
  });

  it("wants the secrets beside a database of one's own, since there is no data folder to keep them in", () => {
    const message = mistakeOf({ DATABASE_URL: "postgres://db/x" });
    for (const name of ["COINSLOT_MASTER_KEY", "COINSLOT_OPERATOR_TOKEN"])
      expect(message).toContain(`${name} must be set when DATABASE_URL is`);
  });
});

describe("parseMasterKey", () => {
  it("reads 32 bytes in hexadecimal of either case, and in base64", () => {
    for (const spelling of [
      masterKey.toString("hex"),
      masterKey.toString("hex").toUpperCase(),
      masterKey.toString("base64"),
      masterKey.toString("base64url"),
    ])
      expect(parseMasterKey(spelling)).toEqual(masterKey);
  });

  it("refuses any other length", () => {
    for (const bytes of [0, 16, 31, 33, 64]) {
      expect(parseMasterKey(randomBytes(bytes).toString("hex"))).toBeNull();
      expect(parseMasterKey(randomBytes(bytes).toString("base64"))).toBeNull();
    }
  });
});
