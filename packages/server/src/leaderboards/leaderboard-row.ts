// A leaderboard as it is stored, and how it is shown.
import type { Leaderboard } from "@coinslot/contract";
import type { Queryable } from "../database/connect.ts";

/** The columns that make up a leaderboard on the wire. */
export function leaderboardColumns(sql: Queryable) {
  return sql`id, name, display_name, sort_order, display_type, visible`;
}

export type LeaderboardRow = Leaderboard;

/** How a request points at a board: by its id or by its normalised name. */
export type LeaderboardRef =
  | { readonly by: "id"; readonly value: string }
  | { readonly by: "name"; readonly value: string };

export function matches(sql: Queryable, gameId: string, ref: LeaderboardRef) {
  return ref.by === "id"
    ? sql`game_id = ${gameId} AND id = ${ref.value}`
    : sql`game_id = ${gameId} AND name = ${ref.value}`;
}
