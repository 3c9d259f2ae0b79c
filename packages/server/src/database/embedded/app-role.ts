// Makes the role that the service works as, and its database, where they are missing.
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import type { Sql } from "postgres";
import { APP_DATABASE, APP_ROLE, asSuperuser, type ServerAccess } from "./connection.ts";

/** May log in and make databases of its own (tests do), and nothing else. */
const RIGHTS = "login createdb nosuperuser nocreaterole noreplication nobypassrls";

/** Cheap when all is there: one query. */
export async function ensureAppRole(access: ServerAccess, appPassword: string): Promise<void> {
  await asSuperuser(access, async (sql) => {
    const [found] = await sql<
      [{ stored: string | null; role: boolean; rights: boolean; owner: string | null }]
    >`
      select r.rolpassword as stored, r.rolname is not null as role,
        coalesce(r.rolcanlogin and r.rolcreatedb
          and not (r.rolsuper or r.rolcreaterole or r.rolreplication or r.rolbypassrls), false) as rights,
        pg_get_userbyid(d.datdba)::text as owner
      from (select 1) as one
        left join pg_authid r on r.rolname = ${APP_ROLE}
        left join pg_database d on d.datname = ${APP_DATABASE}`;
    if (!found.role) await run(sql, "create role %I", APP_ROLE);
    if (!found.rights || !isVerifierOf(found.stored ?? "", appPassword)) {
      // The server gets a verifier and never the password, so no log of statements can show it.
      const verifier = scramVerifier(appPassword, randomBytes(16), 4096);
      await run(sql, `alter role %I with ${RIGHTS} password %L`, APP_ROLE, verifier);
    }
    if (found.owner === null) await run(sql, "create database %I owner %I", APP_DATABASE, APP_ROLE);
    else if (found.owner !== APP_ROLE)
      await run(sql, "alter database %I owner to %I", APP_DATABASE, APP_ROLE);
  });
}

/** These statements take no parameters: PostgreSQL itself quotes the names and values. */
async function run(sql: Sql, template: string, ...values: string[]): Promise<void> {
  const [row] = await sql<[{ statement: string }]>`
    select format(${template}::text, variadic string_to_array(${values.join("\n")}::text, chr(10))) as statement`;
  await sql.unsafe(row.statement);
}

/** As PostgreSQL stores it (RFC 5802, RFC 7677). */
function scramVerifier(password: string, salt: Buffer, iterations: number): string {
  const salted = pbkdf2Sync(password, salt, iterations, 32, "sha256");
  const keyFor = (name: string) => createHmac("sha256", salted).update(name).digest();
  const stored = createHash("sha256").update(keyFor("Client Key")).digest("base64");
  const server = keyFor("Server Key").toString("base64");
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${stored}:${server}`;
}

/** False when the password file was lost or restored from elsewhere: the role then gets the password of the file. */
function isVerifierOf(stored: string, password: string): boolean {
  const [, iterations = "", salt = ""] = /^SCRAM-SHA-256\$(\d{1,7}):([^$]+)\$/.exec(stored) ?? [];
  if (salt === "") return false;
  return scramVerifier(password, Buffer.from(salt, "base64"), Number(iterations)) === stored;
}
