// The receipt: the signed statement that a purchase was made or refunded.
import { z } from "zod";
import { contentType, env, purchaseEvent, purchaseSource } from "./enums.ts";

export const receiptTyp = "service-purchase+jwt";
export const userTokenTyp = "service-user+jwt";
export const jwksPath = "/.well-known/jwks.json";

export const receiptClaims = z.object({
  iss: z.string(),
  aud: z.string(),
  sub: z.string(),
  iat: z.int(),
  jti: z.string(),
  env,
  event: purchaseEvent,
  purchaseId: z.string(),
  ptype: contentType,
  contentIdentifier: z.string(),
  source: purchaseSource,
  purchasedAt: z.string(),
  refundedAt: z.string().optional(),
});
export type ReceiptClaims = z.infer<typeof receiptClaims>;
