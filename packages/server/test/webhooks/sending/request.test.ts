// The exact request, and connections that are kept for the next one.
import { describe, expect, it } from "vitest";
import { jwt, testReceiver, testSender } from "./test-sender.ts";

describe("the request", () => {
  it("is exactly these bytes, the same each time", async () => {
    const receiver = await testReceiver();
    const sender = testSender();
    for (const _ of [1, 2, 3]) await sender.send(receiver.url("/hook/a%20b?x=1&y=%C3%A9#part"), jwt);
    const body = `{"receiptJwt":"${jwt}"}`;
    const expected = [
      "POST /hook/a%20b?x=1&y=%C3%A9 HTTP/1.1",
      `host: receiver.test:${receiver.port}`,
      "connection: keep-alive",
      "Content-Type: application/json",
      "User-Agent: Service-Webhooks/1",
      `content-length: ${body.length}`,
      "",
      body,
    ].join("\r\n");
    expect(receiver.requests.map(({ raw }) => raw)).toEqual([expected, expected, expected]);
  });

  it("is logged with the headers that went over the wire", async () => {
    const receiver = await testReceiver();
    const { requestHeaders } = await testSender().send(receiver.url(), jwt);
    const lines = Object.entries(requestHeaders).map(([name, value]) => `${name}: ${value}`);
    expect(receiver.requests[0]?.head.trimEnd().split("\r\n").slice(1)).toEqual(lines);
  });

  it("reuses its connection, and says so in the timings", async () => {
    const receiver = await testReceiver();
    const sender = testSender();
    const first = await sender.send(receiver.url(), jwt);
    const second = await sender.send(receiver.url(), jwt);
    expect(first).toMatchObject({ delivered: true, failure: null });
    expect(first.timings).toEqual({
      lookupMs: expect.any(Number),
      connectMs: expect.any(Number),
      tlsMs: expect.any(Number),
      firstByteMs: expect.any(Number),
      totalMs: expect.any(Number),
    });
    expect(second.timings).toMatchObject({ lookupMs: null, connectMs: null, tlsMs: null });
    expect(receiver.connectionCount()).toBe(1);
  });
});
