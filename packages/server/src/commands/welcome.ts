// What `npm start` prints: where things are, and three calls to copy.
import { randomBytes } from "node:crypto";
import { isIPv6 } from "node:net";
import type { Config } from "../config.ts";
import type { Secrets } from "../secrets.ts";

/** The game's id is new at every start, so that the calls work as printed however often they are copied. */
export function welcome(
  config: Config,
  secrets: Secrets,
  database: string,
  gameId = `demo-${randomBytes(3).toString("hex")}`,
): string {
  const origin = `http://${hostInUrl(config.host)}:${config.port}`;
  const token =
    secrets.operatorTokenFile === null
      ? "$COINSLOT_OPERATOR_TOKEN"
      : `$(cat ${quoteForShell(secrets.operatorTokenFile)})`;
  const call = (path: string, body: object) =>
    `  curl -s ${origin}/api/games${path} -H "Authorization: Bearer ${token}" -H "Content-Type: application/json" -d '${JSON.stringify(body)}'`;
  return [
    "",
    `Coinslot is ready at ${origin}`,
    "",
    `  API reference   ${origin}/docs  (for programs: ${origin}/openapi.json)`,
    `  Signing keys    ${config.authUrl}/.well-known/jwks.json`,
    `  Operator token  ${secrets.operatorTokenFile ?? "as set in COINSLOT_OPERATOR_TOKEN"}`,
    `  Database        ${database}`,
    "",
    "Make a game, put something on sale, sell it (nobody is charged in PLAYTEST):",
    "",
    call("", { id: gameId, title: "Demo" }),
    "",
    call(`/${gameId}/contents`, {
      contentIdentifier: "gems-100",
      type: "CONSUMABLE",
      title: "100 gems",
      price: { amount: 499, currency: "EUR" },
    }),
    "",
    call(`/${gameId}/purchases`, { userId: "player-1", contentIdentifier: "gems-100", env: "PLAYTEST" }),
    "",
    config.databaseUrl === null ? "Ctrl-C stops it, the database included." : "Ctrl-C stops it.",
  ].join("\n");
}

/** Where a caller on this machine finds a service that listens there. */
function hostInUrl(host: string): string {
  if (["0.0.0.0", "127.0.0.1", "::"].includes(host)) return "localhost";
  return isIPv6(host) ? `[${host}]` : host;
}

function quoteForShell(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
