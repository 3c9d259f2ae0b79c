// Webhook deliveries and their attempts on the wire.
import { z } from "zod";
import { deliveryState, env, purchaseEvent } from "./enums.ts";
import { utcTime } from "./text.ts";

export const attemptTrigger = z.enum(["FIRST", "RETRY", "RESEND", "REPLAY"]);
export type AttemptTrigger = z.infer<typeof attemptTrigger>;

export const attemptOutcome = z.enum(["DELIVERED", "FAILED", "UNKNOWN"]);
export type AttemptOutcome = z.infer<typeof attemptOutcome>;

export const delivery = z.object({
  id: z.string().describe("The delivery."),
  eventId: z.string().describe("The event that it delivers."),
  purchaseId: z.string().describe("The purchase that the event is about."),
  event: purchaseEvent.describe("What happened to the purchase."),
  env: env.describe("The environment, and so the endpoint."),
  state: deliveryState.describe(
    "Whether it waits, arrived, was given up, was canceled, or was never to be sent.",
  ),
  attemptCount: z.int().describe("How many attempts have been made."),
  nextAttemptAt: utcTime.nullable().describe("When it is tried next; null when it is not."),
  createdAt: utcTime.describe("When the event happened."),
  deliveredAt: utcTime.nullable().describe("When the receiver last took it."),
});
export type Delivery = z.infer<typeof delivery>;

const took = (what: string) =>
  z.number().nullable().describe(`Milliseconds ${what}; null when that did not happen.`);
const headers = z.record(z.string(), z.string());

export const attempt = z.object({
  number: z.int().describe("1 is the first attempt of the delivery."),
  trigger: attemptTrigger.describe("Why it was made."),
  startedAt: utcTime.describe("When it began."),
  url: z.string().describe("Where it went."),
  request: z
    .object({
      headers: headers.describe("The request's headers."),
      body: z.string().describe("The request's body, the same for every attempt."),
    })
    .describe("What was sent."),
  response: z
    .object({
      status: z.int().describe("The status that the receiver answered."),
      headers: headers.describe("The answer's headers."),
      body: z.string().describe("The answer's body, up to 16 KiB of it."),
      truncated: z.boolean().describe("Whether there was more of the body."),
    })
    .nullable()
    .describe("What came back; null when nothing did."),
  outcome: attemptOutcome
    .nullable()
    .describe("Null while it is under way; UNKNOWN when the service died during it."),
  error: z.string().nullable().describe("Why it failed, for a person; null when it did not."),
  timings: z
    .object({
      lookupMs: took("for looking up the name"),
      connectMs: took("for connecting"),
      tlsMs: took("for the TLS handshake"),
      firstByteMs: took("from the request to the end of the answer's headers"),
      totalMs: took("in all"),
    })
    .nullable()
    .describe("How long each part took; null while it is under way."),
});
export type Attempt = z.infer<typeof attempt>;
