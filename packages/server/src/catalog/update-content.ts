// Changes the title, price or files of content. What it is (its type) never changes: receipts have said it.
import type { Content, updateContentBody } from "@coinslot/contract";
import type { z } from "zod";
import type { Clock } from "../clock.ts";
import type { Sql } from "../database/connect.ts";
import { invalidInput, notFound } from "../http/api-error.ts";
import { type ContentRow, contentColumns, showContent } from "./content-row.ts";

export async function updateContent(
  { sql, clock }: { sql: Sql; clock: Clock },
  gameId: string,
  contentIdentifier: string,
  body: z.output<typeof updateContentBody>,
): Promise<Content> {
  const unlocksFiles = body.files !== undefined && body.files.length > 0;
  const [row] = await sql<ContentRow[]>`
    UPDATE contents SET
      title = coalesce(${body.title ?? null}, title),
      price_amount = coalesce(${body.price?.amount ?? null}, price_amount),
      price_currency = coalesce(${body.price?.currency ?? null}, price_currency),
      files = coalesce(${body.files === undefined ? null : sql.json(body.files)}, files),
      updated_at = ${new Date(clock.nowMs())}
    WHERE game_id = ${gameId} AND content_identifier = ${contentIdentifier}
      AND (type = 'DURABLE' OR NOT ${unlocksFiles})
    RETURNING ${contentColumns(sql)}`;
  if (row !== undefined) return showContent(row);
  const found = await sql`
    SELECT 1 FROM contents WHERE game_id = ${gameId} AND content_identifier = ${contentIdentifier}`;
  if (found.length === 0) throw contentNotFound();
  throw invalidInput("files: only a durable unlocks files.", "files");
}

export function contentNotFound() {
  return notFound("The game has no content with this identifier.");
}
