// Fills the database in bulk with what the benchmarks start from: games, content, purchases and their receipts.
import { randomBytes } from "node:crypto";
import { systemClock } from "../packages/server/src/clock.ts";
import { createIds } from "../packages/server/src/ids.ts";
import { ensureKeys } from "../packages/server/src/keys/ensure-keys.ts";
import { openKeyring } from "../packages/server/src/keys/keyring.ts";
import { createLog } from "../packages/server/src/log.ts";
import { signReceipt } from "../packages/server/src/receipts/sign-receipt.ts";
import type { Setting } from "./setting.ts";

export const contentIdentifier = "gems-100";
const ids = createIds(systemClock, randomBytes);

export interface SeededPurchase {
  readonly purchaseId: string;
  readonly receiptJwt: string;
}

export async function seedGames({ sql }: Setting, gameIds: readonly string[]): Promise<void> {
  const now = new Date();
  await sql`INSERT INTO games (id, title, created_at) SELECT id, 'A game', ${now} FROM unnest(${[...gameIds]}::text[]) AS g (id)`;
  await sql`INSERT INTO game_feeds (game_id, last_position) SELECT id, 0 FROM games`;
  await sql`
    INSERT INTO contents (game_id, content_identifier, type, title, price_amount, price_currency, files,
      created_at, updated_at)
    SELECT id, ${contentIdentifier}, 'CONSUMABLE', '100 gems', 499, 'EUR', '[]', ${now}, ${now} FROM games`;
}

export async function seedKeys({ sql, masterKey }: Setting): Promise<void> {
  await ensureKeys(sql, { clock: systemClock, ids, masterKey });
}

/** Completed purchases dealt out over the games, each with a receipt signed by the active key. */
export async function seedPurchases(
  setting: Setting,
  options: { gameIds: readonly string[]; count: number; authUrl: string; onSigned: (count: number) => void },
): Promise<SeededPurchase[]> {
  const { sql, masterKey } = setting;
  const keyring = await openKeyring({ sql, clock: systemClock, ids, masterKey, log: createLog("silent") });
  const purchasedAt = new Date();
  const drafts = Array.from({ length: options.count }, (_, index) => ({
    gameId: options.gameIds[index % options.gameIds.length] ?? "",
    purchaseId: ids("pur"),
    userId: `player-${index}`,
  }));
  await sql`
    INSERT INTO purchases (game_id, purchase_id, user_id, content_identifier, type, env, source, state,
      price_amount, price_currency, purchased_at)
    SELECT game_id, purchase_id, user_id, ${contentIdentifier}, 'CONSUMABLE', 'PRODUCTION', 'PAYWALL', 'COMPLETED',
      499, 'EUR', ${purchasedAt}
    FROM unnest(${drafts.map((draft) => draft.gameId)}::text[], ${drafts.map((draft) => draft.purchaseId)}::text[],
      ${drafts.map((draft) => draft.userId)}::text[]) AS d (game_id, purchase_id, user_id)`;

  // All at once: WebCrypto signs on every core.
  let signed = 0;
  const seeded = await Promise.all(
    drafts.map(async (draft) => {
      const { receiptJwt } = await signReceipt(keyring, options.authUrl, {
        ...draft,
        env: "PRODUCTION",
        event: "purchase.completed",
        eventId: ids("evt"),
        eventAt: purchasedAt,
        type: "CONSUMABLE",
        contentIdentifier,
        source: "PAYWALL",
        purchasedAt,
        refundedAt: null,
      });
      options.onSigned(++signed);
      return { purchaseId: draft.purchaseId, receiptJwt };
    }),
  );
  await keyring.stop();
  return seeded;
}
