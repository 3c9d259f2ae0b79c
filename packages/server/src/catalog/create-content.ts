// Adds a content item to a game's catalog.
import { type Content, type createContentBody, limits } from "@coinslot/contract";
import type { z } from "zod";
import { codeOf, uniqueViolation } from "../database/connect.ts";
import { conflict } from "../http/api-error.ts";
import { createOnce, type IdempotencyDeps, type IdempotencyKey } from "../http/idempotency.ts";
import { type ContentRow, contentColumns, showContent } from "./content-row.ts";

export async function createContent(
  deps: IdempotencyDeps,
  gameId: string,
  input: z.output<typeof createContentBody>,
  idempotency: IdempotencyKey | null,
): Promise<Content> {
  const now = new Date(deps.clock.nowMs());
  try {
    return await createOnce(deps, idempotency, async (tx) => {
      const [row] = await tx<ContentRow[]>`
        INSERT INTO contents
          (game_id, content_identifier, type, title, price_amount, price_currency, files, created_at, updated_at)
        SELECT ${gameId}, ${input.contentIdentifier}, ${input.type}, ${input.title},
          ${input.price.amount}, ${input.price.currency}, ${tx.json(input.files)}, ${now}, ${now}
        WHERE (SELECT count(*) FROM contents WHERE game_id = ${gameId}) < ${limits.contentsPerGameMaxCount}
        RETURNING ${contentColumns(tx)}`;
      if (row === undefined)
        throw conflict(`A game has at most ${limits.contentsPerGameMaxCount} content items.`);
      return showContent(row);
    });
  } catch (error) {
    if (codeOf(error) !== uniqueViolation) throw error;
    throw conflict(`The game already has content ${input.contentIdentifier}.`, "contentIdentifier");
  }
}
