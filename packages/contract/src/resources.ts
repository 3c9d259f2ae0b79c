// Games, content, purchases, events, tokens and webhooks on the wire.
import { z } from "zod";
import { contentType, env, purchaseEvent, purchaseSource, purchaseState, scope } from "./enums.ts";
import * as limits from "./limits.ts";
import { label, text, timestamp, utcTime } from "./text.ts";

const word = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

export const gameId = z.string().max(limits.gameIdMaxChars).regex(word, {
  error: "must start with a letter or digit and hold only letters, digits, dots, underscores and hyphens",
});

export const game = z.object({ id: z.string(), title: z.string() });
export type Game = z.infer<typeof game>;

export const createGameBody = z.object({
  id: gameId.optional().describe("Made by the service when left out."),
  title: label(1, limits.gameTitleMaxChars),
});

export const userId = label(1, limits.userIdMaxChars).describe(
  "The player: `sub` in receipts and user tokens.",
);

export const contentIdentifier = z
  .string()
  .max(limits.contentIdentifierMaxChars)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]*$/, {
    error:
      "must start with a letter or digit and hold only letters, digits, dots, colons, underscores and hyphens",
  });

export const price = z.object({
  amount: z
    .int()
    .min(0)
    .max(limits.priceMaxMinorUnits)
    .describe("In the currency's smallest unit: 499 is 4.99."),
  currency: z.string().regex(/^[A-Z]{3}$/, { error: "must be a three-letter currency code such as EUR" }),
});
const files = z
  .array(label(1, limits.contentFileMaxChars))
  .max(limits.contentFilesMaxCount)
  .describe("For a durable: the files it unlocks.");
const contentTitle = label(1, limits.contentTitleMaxChars);

export const content = z.object({
  contentIdentifier: z.string(),
  type: contentType,
  title: z.string(),
  price: z.object({ amount: z.int(), currency: z.string() }),
  files: z.array(z.string()),
  createdAt: utcTime,
  updatedAt: utcTime,
});
export type Content = z.infer<typeof content>;

export const createContentBody = z
  .object({ contentIdentifier, type: contentType, title: contentTitle, price, files: files.default([]) })
  .refine((body) => body.type === "DURABLE" || body.files.length === 0, {
    error: "only a durable unlocks files",
    path: ["files"],
  });

export const updateContentBody = z
  .object({ title: contentTitle, price, files })
  .partial()
  .refine((body) => Object.values(body).some((value) => value !== undefined), {
    error: "send at least one of title, price, files",
  });

export const purchase = z.object({
  purchaseId: z.string(),
  userId: z.string(),
  contentIdentifier: z.string(),
  type: contentType,
  env,
  source: purchaseSource,
  state: purchaseState,
  purchasedAt: utcTime,
  fulfilledAt: utcTime.nullable(),
  refundedAt: utcTime.nullable(),
});
export type Purchase = z.infer<typeof purchase>;

export const createPurchaseBody = z.object({
  userId,
  contentIdentifier,
  env,
  source: purchaseSource.default("STORE_PAGE"),
});

export const refundPurchaseBody = z
  .object({
    reason: text(0, limits.refundReasonMaxChars)
      .optional()
      .describe("Kept with the purchase, shown in its timeline."),
  })
  .optional();

export const timelineEntry = z.object({
  at: utcTime,
  kind: z.enum(["PURCHASED", "DELIVERY_CREATED", "FULFILLED", "REFUNDED"]),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
});
export type TimelineEntry = z.infer<typeof timelineEntry>;

export const fulfillBody = z.object({
  receiptJwt: z.string().describe("A purchase.completed receipt for this same purchase."),
});

export const event = z.object({
  id: z.string(),
  event: purchaseEvent,
  env,
  purchaseId: z.string(),
  receiptJwt: z.string(),
  createdAt: utcTime,
});
export type Event = z.infer<typeof event>;

export const accessToken = z.object({
  id: z.string(),
  label: z.string(),
  scopes: z.array(scope),
  createdAt: utcTime,
  expiresAt: utcTime.nullable(),
  lastUsedAt: utcTime.nullable(),
});
export type AccessToken = z.infer<typeof accessToken>;

export const createTokenBody = z.object({
  label: label(1, limits.tokenLabelMaxChars),
  scopes: z
    .array(scope)
    .min(1)
    .refine((scopes) => new Set(scopes).size === scopes.length, { error: "must not repeat a scope" }),
  expiresAt: timestamp.nullable().optional().describe("Never expires when left out."),
});

export const createPlayerTokenBody = z.object({ env: env.default("PRODUCTION") }).optional();

export const entitlement = z.object({
  contentIdentifier: z.string(),
  title: z.string(),
  files: z.array(z.string()),
  purchasedAt: utcTime,
});
export type Entitlement = z.infer<typeof entitlement>;

export const webhook = z.object({ env, url: z.string() });
export type Webhook = z.infer<typeof webhook>;

function isWebhookUrl(value: string): boolean {
  if (value === "") return true;
  // The parser trims and repairs; what it would repair is refused rather than stored as something else.
  if (/[\s\p{Cc}\\]/u.test(value) || value.includes("#") || !URL.canParse(value)) return false;
  const host = /^https:\/\/([^/?]+)/.exec(value)?.[1];
  return host !== undefined && !host.includes("@");
}

export const putWebhookBody = z.object({
  url: text(0, limits.webhookUrlMaxChars)
    .refine(isWebhookUrl, {
      error: "must be an https:// address without credentials or a fragment, or blank to turn webhooks off",
    })
    .describe("Blank turns webhooks off for this environment."),
});
