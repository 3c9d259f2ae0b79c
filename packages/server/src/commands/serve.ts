// `coinslot serve`: starts everything, says where it is, and stops it all on a signal.
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer as createSocketServer } from "node:net";
import { networkInterfaces } from "node:os";
import { createApp } from "../app.ts";
import { systemClock } from "../clock.ts";
import type { Config } from "../config.ts";
import { codeOf, isDatabaseOutage } from "../database/connect.ts";
import { migrate, readMigrations } from "../database/migrate.ts";
import { openDatabase } from "../database/open-database.ts";
import { createIds } from "../ids.ts";
import { createLog } from "../log.ts";
import { loadSecrets } from "../secrets.ts";
import { StartupError } from "../startup-error.ts";
import { createSender, type Sender } from "../webhooks/sending/send-webhook.ts";
import { createSystemLookup } from "../webhooks/sending/system-lookup.ts";
import type { Io } from "./io.ts";
import { welcome } from "./welcome.ts";

/** How long requests in flight may take to finish once a stop was asked for. */
const stopTimeoutMs = 25_000;

export async function serve(config: Config, io: Io): Promise<number> {
  const log = createLog(config.logLevel);
  // Asked before anything is started, so that the common mistake costs nothing.
  await checkPort(config);
  const stopSignal = waitForSignal();
  // The database's client may lose a connection at a moment when nobody awaits it. That is no reason to end.
  process.on("unhandledRejection", (error) => {
    if (!isDatabaseOutage(error)) throw error;
    log.warn({ err: error }, "A connection to the database was lost");
  });
  const database = await openDatabase(config, (message) => log.warn(message));
  try {
    const secrets = await loadSecrets(config);
    const { sql } = database;
    await migrate(sql, await readMigrations(), systemClock.nowMs());
    const ids = createIds(systemClock, randomBytes);
    const sender = config.roles.includes("delivery") ? await openSender(config) : null;
    const app = await createApp({
      config,
      sql,
      clock: systemClock,
      ids,
      randomBytes,
      log,
      webhooks: sender === null ? null : { sender, attemptsKeepDays: config.attemptsKeepDays },
      servesApi: config.roles.includes("api"),
      ...secrets,
    });
    try {
      await app.http.listen({ host: config.host, port: config.port }).catch((error: unknown) => {
        throw explainListen(error, config);
      });
      io.out(welcome(config, secrets, database.description));
      log.info({ url: config.baseUrl, database: database.description }, "serving");
      const signal = await stopSignal;
      io.out(`\nStopping (${signal}) ...`);
    } finally {
      await within(app.stop(), stopTimeoutMs);
      await sender?.close();
    }
  } finally {
    await database.close();
  }
  io.out("Stopped.");
  return 0;
}

async function openSender(config: Config): Promise<Sender> {
  const file = config.webhookCaFile;
  const ca =
    file === null
      ? undefined
      : await readFile(file, "utf8").catch((error: unknown) => {
          throw new StartupError(
            `Cannot read COINSLOT_WEBHOOK_CA_FILE (${file}): ${codeOf(error) ?? "unknown error"}.`,
          );
        });
  return createSender({
    lookup: createSystemLookup(),
    allowCidrs: config.webhookAllowCidrs,
    ownAddresses: () =>
      Object.values(networkInterfaces()).flatMap(
        (addresses) => addresses?.map(({ address }) => address) ?? [],
      ),
    ca,
    nowMs: () => performance.now(),
  });
}

async function checkPort(config: Config): Promise<void> {
  const probe = createSocketServer();
  await new Promise<void>((resolve, reject) => {
    probe.once("error", reject);
    probe.listen({ host: config.host, port: config.port }, resolve);
  }).catch((error: unknown) => {
    throw explainListen(error, config);
  });
  await new Promise((resolve) => probe.close(resolve));
}

function explainListen(error: unknown, { host, port }: Config): StartupError {
  switch (codeOf(error)) {
    case "EADDRINUSE":
      return new StartupError(
        `Port ${port} is taken (another Coinslot?). Stop what uses it, or set PORT to another.`,
      );
    case "EACCES":
      return new StartupError(
        `Port ${port} needs more rights than this user has. Set PORT to one above 1023.`,
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new StartupError(`This machine has no address ${host}. Set HOST to one of its own.`);
    default:
      return new StartupError(`Cannot listen on ${host}:${port}: ${String(error)}`);
  }
}

/**
 * Resolves on the first signal. A second Ctrl-C ends the process at once; the next start takes the database over. Other
 * signals may arrive twice, from whoever runs the service and from a parent that passes them on, and count once.
 */
function waitForSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let askedAtMs: number | null = null;
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => {
        const nowMs = systemClock.nowMs();
        if (askedAtMs !== null && signal === "SIGINT" && nowMs - askedAtMs > 1_000) process.exit(1);
        askedAtMs ??= nowMs;
        resolve(signal);
      });
    }
  });
}

async function within(work: Promise<void>, ms: number): Promise<void> {
  const giveUp = new AbortController();
  await Promise.race([work, systemClock.sleep(ms, giveUp.signal)]);
  giveUp.abort();
}
