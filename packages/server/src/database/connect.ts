// Opens the pool of connections to PostgreSQL.
import postgres from "postgres";

export type Sql = postgres.Sql;
export type Tx = postgres.TransactionSql;
/** Either: a use-case that is handed one need not know whether it runs in a transaction. */
export type Queryable = Sql | Tx;

/** The longest that any statement of the service may run; revoking a key relies on it. */
export const statementTimeoutMs = 10_000;

export function connect(url: string, options: { poolSize: number; name?: string }): Sql {
  return postgres(url, {
    max: options.poolSize,
    connect_timeout: 10,
    // The client's own waits grow to 20 s: long after the database is back.
    backoff: (attempt) => Math.min(0.05 * 2 ** attempt, 0.5),
    // Columns are snake_case in SQL and camelCase in the program; what is inside JSON stays as it is.
    transform: { column: postgres.camel.column },
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
