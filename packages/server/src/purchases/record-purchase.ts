// Records a purchase: signs its receipt, then commits the purchase, the event and the delivery together.
import type { Env, Purchase, PurchaseSource } from "@coinslot/contract";
import type { Clock } from "../clock.ts";
import type { Sql } from "../database/connect.ts";
import { groupCalls, OverloadError } from "../database/group-calls.ts";
import { ApiError, invalidInput } from "../http/api-error.ts";
import { type IdempotencyKey, replayAnswer, sealAnswer } from "../http/idempotency.ts";
import type { Ids } from "../ids.ts";
import type { Keyring } from "../keys/keyring.ts";
import { signReceipt } from "../receipts/sign-receipt.ts";
import { type InsertOutcome, insertPurchases, type NewPurchase } from "./insert-purchases.ts";
import { type PurchaseRow, showPurchase } from "./purchase-row.ts";

/** Reading the content and signing take milliseconds, unless the database was away in between. */
const draftMaxMs = 10_000;

export interface PurchaseDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly keyring: Keyring;
  readonly masterKey: Buffer;
  readonly authUrl: string;
  /** Called after events of a game were committed. */
  readonly onEvents: (gameId: string, env: Env) => void;
}

export interface RecordPurchaseInput {
  readonly gameId: string;
  readonly userId: string;
  readonly contentIdentifier: string;
  readonly env: Env;
  readonly source: PurchaseSource;
}

export interface RecordedPurchase {
  readonly purchase: Purchase;
  readonly receiptJwt: string;
}

export type RecordPurchase = (
  input: RecordPurchaseInput,
  idempotency: IdempotencyKey | null,
) => Promise<RecordedPurchase>;

export function createRecordPurchase(deps: PurchaseDeps): RecordPurchase {
  // Purchases of one game share the feed's row; those that come while a group commits form the next group.
  const insert = groupCalls<NewPurchase, InsertOutcome>({
    run: (gameId, items) => insertPurchases(deps.sql, gameId, items, deps.clock.nowMs()),
    groupMaxCount: 100,
    runningMaxCount: 4,
    waitingMaxCount: 5_000,
  });

  const attempt = async (
    input: RecordPurchaseInput,
    idempotency: IdempotencyKey | null,
  ): Promise<RecordedPurchase | null> => {
    const startedAtMs = deps.clock.nowMs();
    const draft = await draftPurchase(deps, input);
    // A caller that has waited this long has given up and may have asked again: late is not sold.
    if (deps.clock.nowMs() - startedAtMs > draftMaxMs)
      throw new OverloadError("The purchase took too long to prepare.");
    const answer = { purchase: showPurchase(draft.purchase), receiptJwt: draft.receiptJwt };
    const outcome = await insert(input.gameId, {
      ...draft,
      idempotency:
        idempotency === null
          ? null
          : { key: idempotency, answer: sealAnswer(deps.masterKey, idempotency, answer.purchase) },
    });
    if (outcome === "RECORDED") {
      deps.onEvents(input.gameId, input.env);
      return answer;
    }
    if (outcome === "REPEATED" && idempotency !== null) return repeatAnswer(deps, input.gameId, idempotency);
    return null;
  };

  return async (input, idempotency) => {
    const recorded = await attempt(input, idempotency);
    if (recorded !== null) return recorded;
    // The signing key was revoked a moment ago: sign with the one that took its place.
    await deps.keyring.refresh();
    const again = await attempt(input, idempotency);
    if (again === null)
      throw new ApiError("unavailable", "The signing key is being replaced. Try again.", { retryAfterS: 1 });
    return again;
  };
}

/** The purchase as it was answered, with its receipt as it is now: revoking a key signs receipts anew. */
async function repeatAnswer(
  deps: PurchaseDeps,
  gameId: string,
  idempotency: IdempotencyKey,
): Promise<RecordedPurchase> {
  // Stored by this same operation, so it has this operation's type.
  const purchase = (await replayAnswer(deps.sql, deps.masterKey, idempotency)) as Purchase;
  const [event] = await deps.sql<[{ receiptJwt: string }]>`
    SELECT receipt_jwt FROM events
    WHERE game_id = ${gameId} AND purchase_id = ${purchase.purchaseId} AND event = 'purchase.completed'`;
  return { purchase, receiptJwt: event.receiptJwt };
}

async function draftPurchase(
  deps: PurchaseDeps,
  input: RecordPurchaseInput,
): Promise<Omit<NewPurchase, "idempotency">> {
  const [item] = await deps.sql<
    Pick<NewPurchase, "priceAmount" | "priceCurrency">[] & Pick<PurchaseRow, "type">[]
  >`
    SELECT type, price_amount, price_currency FROM contents
    WHERE game_id = ${input.gameId} AND content_identifier = ${input.contentIdentifier}`;
  if (item === undefined) {
    throw invalidInput("contentIdentifier: the game sells no such content.", "contentIdentifier");
  }
  const purchase: PurchaseRow = {
    purchaseId: deps.ids("pur"),
    userId: input.userId,
    contentIdentifier: input.contentIdentifier,
    type: item.type,
    env: input.env,
    source: input.source,
    state: "COMPLETED",
    purchasedAt: new Date(deps.clock.nowMs()),
    fulfilledAt: null,
    refundedAt: null,
  };
  const eventId = deps.ids("evt");
  const receipt = await signReceipt(deps.keyring, deps.authUrl, {
    ...purchase,
    gameId: input.gameId,
    event: "purchase.completed",
    eventId,
    eventAt: purchase.purchasedAt,
  });
  return {
    purchase,
    priceAmount: item.priceAmount,
    priceCurrency: item.priceCurrency,
    eventId,
    deliveryId: deps.ids("dlv"),
    ...receipt,
  };
}
