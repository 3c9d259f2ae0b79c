// Verifies a receipt that a caller hands in as a credential.
import { type ReceiptClaims, receiptClaims, receiptTyp } from "@coinslot/contract";
import type { Keyring } from "../keys/keyring.ts";
import { TokenError, verifyToken } from "../keys/verify-token.ts";

export async function verifyReceipt(
  keyring: Pick<Keyring, "find">,
  authUrl: string,
  receiptJwt: string,
): Promise<ReceiptClaims> {
  const claims = await verifyToken(keyring, receiptJwt, { typ: receiptTyp, iss: authUrl });
  const parsed = receiptClaims.safeParse(claims);
  if (!parsed.success) throw new TokenError("payload");
  return parsed.data;
}
