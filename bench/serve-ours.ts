// Our side: the whole service in a process of its own, configured and logging as in production.
import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { createApp } from "../packages/server/src/app.ts";
import { systemClock } from "../packages/server/src/clock.ts";
import { readConfig } from "../packages/server/src/config.ts";
import { connect } from "../packages/server/src/database/connect.ts";
import { createIds } from "../packages/server/src/ids.ts";
import { createLog } from "../packages/server/src/log.ts";
import { answerParent } from "./child.ts";

const config = readConfig(process.env, { logLevel: "info" });
const { databaseUrl, masterKey, operatorToken } = config;
if (databaseUrl === null || masterKey === null || operatorToken === null) throw new Error("Not configured.");

const sql = connect(databaseUrl, { poolSize: config.databasePoolSize });
const clock = systemClock;
const app = await createApp({
  config,
  sql,
  clock,
  ids: createIds(clock, randomBytes),
  randomBytes,
  masterKey,
  operatorToken,
  log: createLog(config.logLevel),
  // What is measured is the API; sending has a bench of its own.
  webhooks: null,
  servesApi: true,
});
await app.http.listen({ host: "127.0.0.1", port: 0 });

answerParent(
  {
    port: () => (app.http.server.address() as AddressInfo).port,
    cpuMs: () => (process.cpuUsage().user + process.cpuUsage().system) / 1000,
  },
  async () => {
    await app.stop();
    await sql.end({ timeout: 5 });
  },
);
