// A database of its own for a test file, copied from the migrated template.
import { randomBytes } from "node:crypto";
import postgres from "postgres";
import { inject } from "vitest";
import { connect, type Sql } from "../../src/database/connect.ts";
import { databaseNamed } from "./database-url.ts";

export interface TestDatabase {
  readonly url: string;
  readonly sql: Sql;
  drop(): Promise<void>;
}

export async function createTestDatabase(
  options: { empty?: boolean; keys?: boolean; poolSize?: number } = {},
): Promise<TestDatabase> {
  const name = `coinslot_test_${randomBytes(6).toString("hex")}`;
  const admin = postgres(inject("serverUrl"), { max: 1, onnotice: () => undefined });
  const template = options.empty ? "template0" : inject("templateName");
  await createFrom(admin, name, template);
  const url = databaseNamed(inject("serverUrl"), name);
  const sql = connect(url, { poolSize: options.poolSize ?? 10 });
  // As on a first start: the service makes the keys.
  if (options.keys === false) await sql`DELETE FROM signing_keys`;
  return {
    url,
    sql,
    async drop() {
      await sql.end({ timeout: 5 });
      await admin.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await admin.end();
    },
  };
}

/** Another test file may be copying the template at this moment, which PostgreSQL refuses: try again. */
async function createFrom(admin: postgres.Sql, name: string, template: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await admin.unsafe(`CREATE DATABASE ${name} TEMPLATE ${template}`);
      return;
    } catch (error) {
      if (tries >= 100 || !(error instanceof postgres.PostgresError) || error.code !== "55006") throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
