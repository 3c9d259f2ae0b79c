// Changes the settings of a leaderboard: only the fields sent, all of them or none.
import { isStorable, type Leaderboard, nameIsFixed, type UpdateLeaderboardBody } from "@coinslot/contract";
import type { Sql } from "../database/connect.ts";
import { invalidInput, notFound } from "../http/api-error.ts";
import { type LeaderboardRef, type LeaderboardRow, leaderboardColumns, matches } from "./leaderboard-row.ts";

export async function updateLeaderboard(
  sql: Sql,
  gameId: string,
  ref: LeaderboardRef,
  body: UpdateLeaderboardBody,
): Promise<Leaderboard> {
  // One statement: `id` and `name`, when sent, must be what the board has at the moment of the change.
  const [row] = await sql<LeaderboardRow[]>`
    UPDATE leaderboards SET
      visible = coalesce(${body.visible ?? null}, visible),
      display_name = coalesce(${body.displayName ?? null}, display_name),
      sort_order = coalesce(${body.sortOrder ?? null}, sort_order),
      display_type = coalesce(${body.displayType ?? null}, display_type)
    WHERE ${matches(sql, gameId, ref)}
      AND id = coalesce(${storable(body.id)}, id)
      AND name = coalesce(${storable(body.name)}, name)
    RETURNING ${leaderboardColumns(sql)}`;
  if (row !== undefined) return row;

  const [board] = await sql<LeaderboardRow[]>`
    SELECT ${leaderboardColumns(sql)} FROM leaderboards WHERE ${matches(sql, gameId, ref)}`;
  if (board === undefined) throw leaderboardNotFound(ref);
  if (body.id !== undefined && body.id !== board.id) throw invalidInput("id: cannot be changed.", "id");
  throw invalidInput(`name: ${nameIsFixed}.`, "name");
}

/** Text that the database cannot hold equals no stored id or name; "" does not either. */
function storable(value: string | undefined): string | null {
  if (value === undefined) return null;
  return isStorable(value) ? value : "";
}

export function leaderboardNotFound(ref: LeaderboardRef) {
  return notFound(`The game has no leaderboard with this ${ref.by}.`);
}
