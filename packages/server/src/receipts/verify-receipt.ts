// Verifies a receipt that a caller hands in as a credential.
import { type ReceiptClaims, receiptClaims, receiptTyp } from "@coinslot/contract";
import type { Keyring } from "../keys/keyring.ts";
import { TokenError, verifyToken } from "../keys/verify-token.ts";

export async function verifyReceipt(
  keyring: Pick<Keyring, "find" | "findByHead" | "isIssuer">,
  receiptJwt: string,
): Promise<ReceiptClaims> {
  const parsed = receiptClaims.safeParse(await verifyToken(keyring, receiptJwt, receiptTyp));
  if (!parsed.success) throw new TokenError("payload");
  return parsed.data;
}
