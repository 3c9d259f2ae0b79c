// The other side: bare Fastify handlers that do the least possible work for the same answers, on the same tables.

import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import Fastify from "fastify";
import { systemClock } from "../packages/server/src/clock.ts";
import { readConfig } from "../packages/server/src/config.ts";
import { connect } from "../packages/server/src/database/connect.ts";
import { createIds } from "../packages/server/src/ids.ts";
import { openKeyring } from "../packages/server/src/keys/keyring.ts";
import { createLog } from "../packages/server/src/log.ts";
import { bareFulfill } from "./bare-fulfill.ts";
import { barePurchase } from "./bare-purchase.ts";
import { answerParent } from "./child.ts";

const config = readConfig(process.env, { logLevel: "silent" });
const { databaseUrl, masterKey } = config;
if (databaseUrl === null || masterKey === null) throw new Error("Not configured.");

const sql = connect(databaseUrl, { poolSize: config.databasePoolSize });
// Read once for its keys, then left alone: the handlers use jose and nothing of ours.
const keyring = await openKeyring({
  sql,
  clock: systemClock,
  ids: createIds(systemClock, randomBytes),
  masterKey,
  log: createLog("silent"),
});
await keyring.stop();

const http = Fastify({ logger: false });
bareFulfill(http, { sql, keyring, authUrl: config.authUrl });
barePurchase(http, { sql, keyring, authUrl: config.authUrl });
await http.listen({ host: "127.0.0.1", port: 0 });

answerParent(
  {
    port: () => (http.server.address() as AddressInfo).port,
    cpuMs: () => (process.cpuUsage().user + process.cpuUsage().system) / 1000,
  },
  async () => {
    await http.close();
    await sql.end({ timeout: 5 });
  },
);
