// A leaderboard to test on, and its two addresses.
import type { Leaderboard } from "@coinslot/contract";
import { createGame } from "../support/seed.ts";
import type { TestService } from "../support/test-service.ts";

export interface Board extends Leaderboard {
  readonly gameId: string;
}

let count = 0;

export async function createBoard(
  service: TestService,
  wish: { gameId?: string; name?: string } = {},
): Promise<Board> {
  const gameId = wish.gameId ?? (await createGame(service));
  const name = wish.name ?? `Board ${++count}`;
  const { body } = await service.call("POST", `/api/games/${gameId}/leaderboards`, {
    body: { name, displayName: "As it was", sortOrder: 0, displayType: 0, visible: true },
  });
  return { gameId, ...body.leaderboard };
}

export const addresses = [
  {
    by: "name",
    of: (board: Pick<Board, "gameId" | "name">) =>
      `/api/games/${board.gameId}/leaderboards/by-name/${board.name}`,
    ofNone: (gameId: string) => `/api/games/${gameId}/leaderboards/by-name/no-such-board`,
  },
  {
    by: "id",
    of: (board: Pick<Board, "gameId" | "id">) => `/api/games/${board.gameId}/leaderboards/${board.id}`,
    ofNone: (gameId: string) => `/api/games/${gameId}/leaderboards/lb_nosuchboard`,
  },
] as const;

/** What the database holds, in the shape of the wire. */
export async function stored(service: TestService, board: Board): Promise<Leaderboard | undefined> {
  const [row] = await service.database.sql<Leaderboard[]>`
    SELECT id, name, display_name, sort_order, display_type, visible FROM leaderboards
    WHERE game_id = ${board.gameId} AND id = ${board.id}`;
  return row;
}

export function wire(board: Board): Leaderboard {
  const { gameId: _, ...fields } = board;
  return fields;
}
