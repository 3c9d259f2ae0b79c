// Makes the receipt of a purchase or a refund: the contract's claims, and no expiry.
import {
  type ContentType,
  type Env,
  type PurchaseEvent,
  type PurchaseSource,
  type ReceiptClaims,
  receiptTyp,
} from "@coinslot/contract";
import type { Keyring } from "../keys/keyring.ts";
import { signToken } from "../keys/sign-token.ts";

export interface ReceiptFacts {
  readonly gameId: string;
  readonly userId: string;
  readonly env: Env;
  readonly event: PurchaseEvent;
  readonly eventId: string;
  readonly eventAt: Date;
  readonly purchaseId: string;
  readonly type: ContentType;
  readonly contentIdentifier: string;
  readonly source: PurchaseSource;
  readonly purchasedAt: Date;
  readonly refundedAt: Date | null;
}

export interface SignedReceipt {
  readonly receiptJwt: string;
  readonly kid: string;
}

export async function signReceipt(
  keyring: Pick<Keyring, "active">,
  authUrl: string,
  facts: ReceiptFacts,
): Promise<SignedReceipt> {
  const key = keyring.active();
  const claims: ReceiptClaims = {
    iss: authUrl,
    aud: facts.gameId,
    sub: facts.userId,
    iat: Math.floor(facts.eventAt.getTime() / 1000),
    jti: facts.eventId,
    env: facts.env,
    event: facts.event,
    purchaseId: facts.purchaseId,
    ptype: facts.type,
    contentIdentifier: facts.contentIdentifier,
    source: facts.source,
    purchasedAt: facts.purchasedAt.toISOString(),
    ...(facts.refundedAt === null ? {} : { refundedAt: facts.refundedAt.toISOString() }),
  };
  return { receiptJwt: await signToken(key, receiptTyp, claims), kid: key.kid };
}
