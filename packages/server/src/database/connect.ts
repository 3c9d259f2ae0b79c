// Opens the pool of connections to PostgreSQL.
import type { Duplex } from "node:stream";
import postgres from "postgres";

export type Sql = postgres.Sql;
export type Tx = postgres.TransactionSql;
/** Either: a use-case that is handed one need not know whether it runs in a transaction. */
export type Queryable = Sql | Tx;

/** The longest that any statement of the service may run; revoking a key relies on it. */
export const statementTimeoutMs = 10_000;

export interface ConnectOptions {
  readonly poolSize: number;
  readonly name?: string;
  /** Makes the connections, where the address alone is not to be trusted with the password. */
  readonly dial?: () => Promise<Duplex>;
}

function serializeArray(values: readonly (string | number | null)[]): string {
  const quote = (value: string | number) => `"${String(value).replace(/["\\]/g, "\\$&")}"`;
  return `{${values.map((value) => (value === null ? "NULL" : quote(value))).join()}}`;
}

/** Arrays are only ever sent; what comes back as a list is JSON. */
const arrayTypes = Object.fromEntries(
  Object.entries({ int4: 1007, text: 1009, int8: 1016, timestamptz: 1185 }).map(([name, oid]) => [
    name,
    { to: oid, from: [oid], serialize: serializeArray, parse: (text: string) => text },
  ]),
);

export function connect(url: string, options: ConnectOptions): Sql {
  return postgres(url, {
    // The client's types do not know it.
    ...(options.dial && { socket: options.dial }),
    max: options.poolSize,
    connect_timeout: 10,
    // The client's own waits grow to 20 s: long after the database is back.
    backoff: (attempt) => Math.min(0.05 * 2 ** attempt, 0.5),
    // Columns are snake_case in SQL and camelCase in the program; what is inside JSON stays as it is.
    transform: { column: postgres.camel.column },
    // The client would ask for the array types on every new connection, and not notice when that fails: the process
    // would end with the connection. The few that we use are known.
    fetch_types: false,
    types: arrayTypes,
    // Sent by PostgreSQL for `IF NOT EXISTS` and the like: of no use to anyone.
    onnotice: () => undefined,
    connection: {
      application_name: options.name ?? "coinslot",
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: statementTimeoutMs,
      TimeZone: "UTC",
      // Statements that take arrays are otherwise planned anew at every call: half of what a fulfil costs PostgreSQL.
      plan_cache_mode: "force_generic_plan",
    },
  });
}

/** SQLSTATEs and client codes that mean "the database cannot answer now", not "the request was wrong". */
const outageCodes = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
  "CONNECTION_ENDED",
  "CONNECT_TIMEOUT",
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOENT",
  "EPIPE",
  "53300", // too many connections
  "57014", // statement timeout
  "57P01", // shutting down
  "57P02", // crash of another backend
  "57P03", // starting up
]);

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

export function isDatabaseOutage(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && outageCodes.has(code);
}

export const uniqueViolation = "23505";
