// Renames a leaderboard. Games that submit to the old name stop finding it, so this is not part of the update.
import { type Leaderboard, normalizeName } from "@coinslot/contract";
import { codeOf, type Sql, uniqueViolation } from "../database/connect.ts";
import { nameTaken } from "./create-leaderboard.ts";
import { type LeaderboardRef, type LeaderboardRow, leaderboardColumns, matches } from "./leaderboard-row.ts";
import { leaderboardNotFound } from "./update-leaderboard.ts";

export async function renameLeaderboard(
  sql: Sql,
  gameId: string,
  id: string,
  newName: string,
): Promise<Leaderboard> {
  const name = normalizeName(newName);
  const ref: LeaderboardRef = { by: "id", value: id };
  try {
    const [row] = await sql<LeaderboardRow[]>`
      UPDATE leaderboards SET name = ${name} WHERE ${matches(sql, gameId, ref)}
      RETURNING ${leaderboardColumns(sql)}`;
    if (row === undefined) throw leaderboardNotFound(ref);
    return row;
  } catch (error) {
    if (codeOf(error) === uniqueViolation) throw nameTaken(name);
    throw error;
  }
}
