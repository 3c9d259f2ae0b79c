// A sender whose receivers answer as the test wants, and which remembers what it was asked to send.
import type { Attempt } from "../../src/webhooks/sending/attempt.ts";
import type { FailureCode } from "../../src/webhooks/sending/failure.ts";
import type { Sender } from "../../src/webhooks/sending/send-webhook.ts";

export interface Sent {
  readonly url: string;
  readonly receiptJwt: string;
}

export type Behaviour = (sent: Sent, nth: number) => Promise<Attempt> | Attempt;

const timings = { lookupMs: null, connectMs: null, tlsMs: null, firstByteMs: 1, totalMs: 1 };
const requestHeaders = { "Content-Type": "application/json" };

export function answered(status: number, more: Partial<Attempt> = {}): Attempt {
  const delivered = status >= 200 && status < 300;
  return {
    delivered,
    failure: delivered ? null : { code: "status", sentence: `the receiver answered ${status}` },
    requestHeaders,
    response: { status, headers: { "x-from": "test" }, body: "ok\u0000", truncated: false },
    timings,
    retryAfterMs: null,
    ...more,
  };
}

export function failed(code: FailureCode): Attempt {
  return {
    delivered: false,
    failure: { code, sentence: code },
    requestHeaders,
    response: null,
    timings,
    retryAfterMs: null,
  };
}

export function createFakeSender(behaviour: Behaviour): Pick<Sender, "send"> & { readonly sent: Sent[] } {
  const sent: Sent[] = [];
  return {
    sent,
    send: async (url, receiptJwt) => {
      sent.push({ url, receiptJwt });
      return behaviour({ url, receiptJwt }, sent.length);
    },
  };
}

/** Waits until something holds, for twenty seconds at most. */
export async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  for (const end = Date.now() + 20_000; Date.now() < end; ) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`Waited in vain: ${what}`);
}
