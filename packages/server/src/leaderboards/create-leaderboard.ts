// Creates a leaderboard under the normalised form of its name.
import { type Leaderboard, limits, normalizeName } from "@coinslot/contract";
import { codeOf, uniqueViolation } from "../database/connect.ts";
import { conflict } from "../http/api-error.ts";
import { createOnce, type IdempotencyDeps, type IdempotencyKey } from "../http/idempotency.ts";
import type { Ids } from "../ids.ts";
import { type LeaderboardRow, leaderboardColumns } from "./leaderboard-row.ts";

export interface CreateLeaderboardInput {
  readonly name: string;
  readonly displayName?: string | undefined;
  readonly sortOrder: number;
  readonly displayType: number;
  readonly visible: boolean;
}

export async function createLeaderboard(
  deps: IdempotencyDeps & { ids: Ids },
  gameId: string,
  input: CreateLeaderboardInput,
  idempotency: IdempotencyKey | null,
): Promise<Leaderboard> {
  const name = normalizeName(input.name);
  try {
    return await createOnce(deps, idempotency, async (tx) => {
      const [row] = await tx<LeaderboardRow[]>`
        INSERT INTO leaderboards
          (game_id, id, name, display_name, sort_order, display_type, visible, created_at)
        SELECT ${gameId}, ${deps.ids("lb")}, ${name}, ${input.displayName ?? input.name},
          ${input.sortOrder}, ${input.displayType}, ${input.visible}, ${new Date(deps.clock.nowMs())}
        WHERE (SELECT count(*) FROM leaderboards WHERE game_id = ${gameId}) < ${limits.leaderboardsPerGameMaxCount}
        RETURNING ${leaderboardColumns(tx)}`;
      if (row === undefined) {
        throw conflict(`A game has at most ${limits.leaderboardsPerGameMaxCount} leaderboards.`);
      }
      return row;
    });
  } catch (error) {
    if (codeOf(error) === uniqueViolation) throw nameTaken(name);
    throw error;
  }
}

export function nameTaken(name: string) {
  return conflict(`The game already has a leaderboard named ${name}.`, "name");
}
