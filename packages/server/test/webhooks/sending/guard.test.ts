// Not one packet goes to a blocked address, whichever way the sender is led there.
import net from "node:net";
import { performance } from "node:perf_hooks";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { ResolvedAddress } from "../../../src/webhooks/sending/cached-lookup.ts";
import { startReceiver } from "./receiver.ts";
import { jwt, testReceiver, testSender } from "./test-sender.ts";

/** Sees every connection, and lets none leave loopback: a broken guard must fail here, not knock on strangers' doors. */
const realConnect = net.Socket.prototype.connect;
const connect = vi.spyOn(net.Socket.prototype, "connect").mockImplementation(function (
  this: net.Socket,
  ...args: unknown[]
) {
  const host: unknown = Reflect.get(Object(args[0]), "host");
  if (String(host).startsWith("127.")) return Reflect.apply(realConnect, this, args);
  return this.destroy(new Error("left loopback"));
});
const records = (...addresses: string[]): ResolvedAddress[] =>
  addresses.map((address) => ({ address, family: net.isIP(address) }));

let trap: Awaited<ReturnType<typeof startReceiver>>;

beforeEach(async () => {
  trap = await startReceiver();
  connect.mockClear();
});

afterEach(async () => {
  await trap.close();
});

function connectedHosts(): unknown[] {
  return connect.mock.calls.map(([options]) => Reflect.get(Object(options), "host"));
}

function expectNoPacket(): void {
  expect(connect).not.toHaveBeenCalled();
  expect(trap.connectionCount()).toBe(0);
}

describe("a blocked address", () => {
  it.each([
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "2130706433",
    "017700000001",
    "0.0.0.0",
    "0",
    "localhost",
    "LOCALHOST.",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[::]",
    "１２７.０.０.１",
    "receiver.test",
  ])("https://%s gets no packet", async (host) => {
    const sender = testSender({ allowCidrs: [], lookup: async () => records("127.0.0.1") });
    const { delivered, failure, response } = await sender.send(trap.url("/", host), jwt);
    expect({ delivered, code: failure?.code, response }).toEqual({
      delivered: false,
      code: "address_not_allowed",
      response: null,
    });
    expectNoPacket();
  });

  it.each([
    [records("127.0.0.1", "93.184.216.34")],
    [records("93.184.216.34", "127.0.0.1")],
    [records("93.184.216.34", "2606:4700::1111", "::1")],
    [records("93.184.216.34", "::ffff:10.0.0.1")],
    [records("1.1.1.1", "1.0.0.1", "8.8.8.8", "8.8.4.4", "9.9.9.9", "10.0.0.1")],
    [records("93.184.216.34", "fe80::1%eth0")],
    [
      [
        { address: "93.184.216.34", family: 4 },
        { address: "inner-host", family: 4 },
      ],
    ],
    [[{ address: "", family: 4 }]],
  ])("among others blocks them all: %j", async (found) => {
    const sender = testSender({ allowCidrs: [], lookup: async () => found });
    expect((await sender.send(trap.url(), jwt)).failure?.code).toBe("address_not_allowed");
    expectNoPacket();
  });

  it("of this host gets no packet although it is public", async () => {
    const sender = testSender({
      allowCidrs: [],
      ownAddresses: () => ["93.184.216.34"],
      lookup: async () => records("93.184.216.34"),
    });
    expect((await sender.send(trap.url(), jwt)).failure?.code).toBe("address_not_allowed");
    expectNoPacket();
  });

  it("is not shown to the outside", async () => {
    const sender = testSender({ allowCidrs: [], lookup: async () => records("10.11.12.13") });
    const attempt = await sender.send(trap.url(), jwt);
    expect(JSON.stringify(attempt)).not.toMatch(/10\.11|12\.13|private/);
    expect(attempt.failure?.sentence).toBe("address not allowed: webhooks may not go there");
  });
});

describe("a name that changes its mind", () => {
  /** 127.0.0.2 plays the public address, 127.0.0.1 the inner one. */
  const allowCidrs = ["127.0.0.2/32"];

  it("is asked once for a connection, and what was checked is what is connected to", async () => {
    const receiver = await testReceiver({ host: "127.0.0.2" });
    connect.mockClear();
    let asked = 0;
    const lookup = async () => records(++asked === 1 ? "127.0.0.2" : "127.0.0.1");
    const sender = testSender({ allowCidrs, lookup });
    expect((await sender.send(receiver.url(), jwt)).delivered).toBe(true);
    expect(asked).toBe(1);
    expect(connectedHosts()).toEqual(["127.0.0.2"]);
  });

  it("is blocked when it leads inside the second time, whatever was true before", async () => {
    const receiver = await testReceiver({
      host: "127.0.0.2",
      behave: (socket) => socket.end("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"),
    });
    let asked = 0;
    let nowMs = performance.now();
    const lookup = async () => records(++asked === 1 ? "127.0.0.2" : "127.0.0.1");
    const sender = testSender({ allowCidrs, lookup, nowMs: () => nowMs });
    expect((await sender.send(receiver.url(), jwt)).delivered).toBe(true);
    nowMs += 6_000;
    connect.mockClear();
    expect((await sender.send(receiver.url(), jwt)).failure?.code).toBe("address_not_allowed");
    expect(asked).toBe(2);
    expectNoPacket();
  });

  it("gets no packet on any of many tries that flip at random", async () => {
    const receiver = await testReceiver({
      host: "127.0.0.2",
      behave: (socket) => socket.end("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"),
    });
    let nowMs = 0;
    let asked = 0;
    const lookup = async () => records(asked++ % 3 === 1 ? "127.0.0.1" : "127.0.0.2");
    const sender = testSender({ allowCidrs, lookup, nowMs: () => nowMs });
    for (let round = 0; round < 30; round += 1) {
      const attempts = await Promise.all([1, 2, 3].map(() => sender.send(receiver.url(), jwt)));
      const codes = new Set(attempts.map(({ failure }) => failure?.code));
      expect(codes).toEqual(new Set([round % 3 === 1 ? "address_not_allowed" : undefined]));
      nowMs += 6_000;
    }
    expect(trap.connectionCount()).toBe(0);
    expect(new Set(connectedHosts())).toEqual(new Set(["127.0.0.2"]));
  });
});

describe("what the environment says", () => {
  it("about proxies and certificates is not listened to", async () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv("HTTPS_PROXY", `http://127.0.0.1:${trap.port}`);
    vi.stubEnv("https_proxy", `http://127.0.0.1:${trap.port}`);
    vi.stubEnv("ALL_PROXY", `http://127.0.0.1:${trap.port}`);
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    const receiver = await testReceiver();
    const trusting = testSender();
    const strict = testSender({ ca: undefined });
    expect((await trusting.send(receiver.url(), jwt)).delivered).toBe(true);
    expect((await strict.send(receiver.url(), jwt)).failure?.code).toBe("certificate_untrusted");
    expect(trap.connectionCount()).toBe(0);
  });
});
