// Remembers the address that this installation signs as, beside those it signed as before.
import type { Sql } from "../database/connect.ts";

export async function recordIssuer(sql: Sql, url: string, now: Date): Promise<void> {
  await sql`INSERT INTO issuers (url, first_used_at) VALUES (${url}, ${now}) ON CONFLICT (url) DO NOTHING`;
}
