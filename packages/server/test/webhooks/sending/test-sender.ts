// A sender for tests: every name leads to loopback, and loopback is allowed, unless a test says otherwise.
import { performance } from "node:perf_hooks";
import { onTestFinished } from "vitest";
import { createSender, type Sender, type SenderOptions } from "../../../src/webhooks/sending/send-webhook.ts";
import { type Receiver, type ReceiverOptions, startReceiver, testAuthority } from "./receiver.ts";

export function testSender(options: Partial<SenderOptions> = {}): Sender {
  const sender = createSender({
    lookup: async () => [{ address: "127.0.0.1", family: 4 }],
    allowCidrs: ["127.0.0.0/8"],
    ownAddresses: () => [],
    ca: testAuthority.ca,
    nowMs: () => performance.now(),
    ...options,
  });
  onTestFinished(() => sender.close());
  return sender;
}

export async function testReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const receiver = await startReceiver(options);
  onTestFinished(() => receiver.close());
  return receiver;
}

export const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJhIjoxfQ.c2lnbmF0dXJl";
