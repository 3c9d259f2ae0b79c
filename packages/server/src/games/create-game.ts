// Creates a game, with the empty feed that its events will stand in.
import type { Game } from "@coinslot/contract";
import { codeOf, uniqueViolation } from "../database/connect.ts";
import { conflict } from "../http/api-error.ts";
import { createOnce, type IdempotencyDeps, type IdempotencyKey } from "../http/idempotency.ts";
import type { Ids } from "../ids.ts";

export interface GameDeps extends IdempotencyDeps {
  readonly ids: Ids;
}

export async function createGame(
  deps: GameDeps,
  input: { id?: string | undefined; title: string },
  idempotency: IdempotencyKey | null,
): Promise<Game> {
  const game = { id: input.id ?? deps.ids("game"), title: input.title };
  const createdAt = new Date(deps.clock.nowMs());
  try {
    return await createOnce(deps, idempotency, async (tx) => {
      await tx`INSERT INTO games (id, title, created_at) VALUES (${game.id}, ${game.title}, ${createdAt})`;
      await tx`INSERT INTO game_feeds (game_id, last_position) VALUES (${game.id}, 0)`;
      return game;
    });
  } catch (error) {
    if (codeOf(error) === uniqueViolation)
      throw conflict(`There is already a game with the id ${game.id}.`, "id");
    throw error;
  }
}
