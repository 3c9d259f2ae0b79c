// Whether a game exists. Games are never deleted, so a yes is remembered.
import { isStorable } from "@coinslot/contract";
import type { Sql } from "../database/connect.ts";

const rememberedMaxCount = 10_000;

export function createGameLookup(sql: Sql): (gameId: string) => Promise<boolean> {
  const known = new Set<string>();
  return async (gameId) => {
    if (known.has(gameId)) return true;
    // The program's own limits keep such ids out of the table; they must not reach the database as text either.
    if (!isStorable(gameId)) return false;
    const rows = await sql`SELECT 1 FROM games WHERE id = ${gameId}`;
    if (rows.length === 0) return false;
    if (known.size >= rememberedMaxCount) known.clear();
    known.add(gameId);
    return true;
  };
}
