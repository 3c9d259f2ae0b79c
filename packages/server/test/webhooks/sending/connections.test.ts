// Connections: kept, stale, bounded, and never older than the name they were made for.
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Connection } from "../../../src/webhooks/sending/connection.ts";
import { createConnectionPool } from "../../../src/webhooks/sending/connection-pool.ts";
import { idleMaxCount, originIdleMaxCount } from "../../../src/webhooks/sending/sending-limits.ts";
import { answer, type Behaviour, reset } from "./receiver.ts";
import { jwt, testReceiver, testSender } from "./test-sender.ts";

const never: Behaviour = () => undefined;

describe("a kept connection", () => {
  it("that the receiver closes in the meantime costs nothing", async () => {
    const receiver = await testReceiver();
    const sender = testSender();
    await sender.send(receiver.url(), jwt);
    receiver.dropConnections();
    await delay(20);
    expect((await sender.send(receiver.url(), jwt)).delivered).toBe(true);
    expect(receiver.connectionCount()).toBe(2);
  });

  it.each(["destroy", "end", "reset"] as const)(
    "that the receiver closes (%s) as the request comes in is replaced within the attempt",
    async (how) => {
      const receiver = await testReceiver({
        behave: (socket, request) => {
          if (request.numberOnConnection === 1) answer(200)(socket, request);
          else if (how === "reset") reset(socket);
          else socket[how]();
        },
      });
      const sender = testSender();
      await sender.send(receiver.url(), jwt);
      const second = await sender.send(receiver.url(), jwt);
      expect(second).toMatchObject({ delivered: true, failure: null });
      expect(second.timings.tlsMs).toEqual(expect.any(Number));
      expect(receiver.requests.map(({ numberOnConnection }) => numberOnConnection)).toEqual([1, 2, 1]);
    },
  );

  it("is replaced once and no more", async () => {
    const receiver = await testReceiver({
      behave: (socket, request) => (request.number === 1 ? answer(200)(socket, request) : socket.destroy()),
    });
    const sender = testSender();
    await sender.send(receiver.url(), jwt);
    const { failure } = await sender.send(receiver.url(), jwt);
    expect(failure?.code).toBe("connection_reset");
    expect(receiver.requests).toHaveLength(3);
  });

  it("that breaks after the first byte of an answer is a failure, not a second request", async () => {
    const receiver = await testReceiver({
      behave: (socket, request) => {
        if (request.number === 1) answer(200)(socket, request);
        else socket.write("H", () => socket.destroy());
      },
    });
    const sender = testSender();
    await sender.send(receiver.url(), jwt);
    const { failure } = await sender.send(receiver.url(), jwt);
    expect(failure?.code).toBe("connection_reset");
    expect(receiver.requests).toHaveLength(2);
  });

  it("is closed when the receiver says so", async () => {
    const receiver = await testReceiver({ behave: answer(200, { connection: "close" }) });
    const sender = testSender();
    for (const _ of [1, 2, 3]) expect((await sender.send(receiver.url(), jwt)).delivered).toBe(true);
    expect(receiver.connectionCount()).toBe(3);
    expect(receiver.requests).toHaveLength(3);
  });

  it.each([
    ["idle for 21 s", [21_000], 2],
    ["idle for 19 s", [19_000], 1],
    ["61 s old, never idle for long", [15_000, 15_000, 15_000, 16_000], 2],
  ])("%s: %j", async (_what, waitsMs, connections) => {
    let nowMs = 0;
    const receiver = await testReceiver();
    const sender = testSender({ nowMs: () => nowMs });
    await sender.send(receiver.url(), jwt);
    for (const waitMs of waitsMs) {
      nowMs += waitMs;
      expect((await sender.send(receiver.url(), jwt)).delivered).toBe(true);
    }
    expect(receiver.connectionCount()).toBe(connections);
  });

  it("does not follow its name to a new address for more than a minute", async () => {
    let nowMs = 0;
    let address = "127.0.0.1";
    const receiver = await testReceiver({ host: "127.0.0.1" });
    const sender = testSender({ nowMs: () => nowMs, lookup: async () => [{ address, family: 4 }] });
    await sender.send(receiver.url(), jwt);
    address = "127.0.0.9";
    nowMs += 61_000;
    expect((await sender.send(receiver.url(), jwt)).failure?.code).toBe("connection_refused");
  });

  it("carries one origin only", async () => {
    const receiver = await testReceiver();
    const sender = testSender();
    await sender.send(receiver.url("/", "a.receiver.test"), jwt);
    await sender.send(receiver.url("/", "b.receiver.test"), jwt);
    expect(receiver.connectionCount()).toBe(2);
  });
});

describe("the pool", () => {
  function fakeConnection(origin: string) {
    let destroyed = false;
    const socket = {
      get destroyed() {
        return destroyed;
      },
      destroy: () => {
        destroyed = true;
      },
      once: () => undefined,
    };
    // The pool looks at nothing else.
    return { origin, socket, openedAtMs: 0, idleSinceMs: 0, requestCount: 1 } as unknown as Connection;
  }

  it("keeps a bounded number of connections, and drops the one idle for longest", () => {
    const pool = createConnectionPool(() => 0);
    const connections = Array.from({ length: idleMaxCount + 20 }, (_, index) =>
      fakeConnection(`https://${index}.test`),
    );
    for (const connection of connections) pool.give(connection);
    expect(pool.idleCount).toBe(idleMaxCount);
    expect(connections.map(({ socket }) => socket.destroyed)).toEqual(
      connections.map((_, index) => index < 20),
    );
    expect(pool.take("https://0.test")).toBeNull();
    expect(pool.take("https://20.test")).toBe(connections[20]);
    expect(pool.take("https://20.test")).toBeNull();
  });

  it("keeps a bounded number for one origin, and hands out the freshest", () => {
    const pool = createConnectionPool(() => 0);
    const connections = Array.from({ length: originIdleMaxCount + 5 }, () =>
      fakeConnection("https://a.test"),
    );
    for (const connection of connections) pool.give(connection);
    expect(pool.idleCount).toBe(originIdleMaxCount);
    expect(pool.take("https://a.test")).toBe(connections[originIdleMaxCount - 1]);
    pool.clear();
    expect(pool.idleCount).toBe(0);
    expect(connections.filter(({ socket }) => !socket.destroyed)).toHaveLength(1);
  });
});

describe("many at once", () => {
  it("are all delivered, over no more connections than were in flight", async () => {
    const receiver = await testReceiver();
    const sender = testSender();
    const shutdown = new AbortController();
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on("warning", onWarning);
    onTestFinished(() => void process.off("warning", onWarning));
    for (const _ of [1, 2, 3]) {
      const attempts = await Promise.all(
        Array.from({ length: 40 }, () => sender.send(receiver.url(), jwt, shutdown.signal)),
      );
      expect(attempts.filter(({ delivered }) => !delivered)).toEqual([]);
    }
    expect(warnings).toEqual([]);
    expect(receiver.requests).toHaveLength(120);
    expect(receiver.connectionCount()).toBeLessThanOrEqual(40);
  });

  it("more than may be open to one receiver are put off, not sent and not held against it", async () => {
    const receiver = await testReceiver({ behave: never });
    const sender = testSender();
    const first = Array.from({ length: 256 }, () => sender.send(receiver.url(), jwt));
    const { failure } = await sender.send(receiver.url(), jwt);
    expect(failure?.code).toBe("busy");
    await sender.close();
    const codes = new Set((await Promise.all(first)).map((attempt) => attempt.failure?.code));
    expect(codes).toEqual(new Set(["canceled"]));
  });
});

describe("the caller", () => {
  it("may give up at any moment", async () => {
    const receiver = await testReceiver({ behave: never });
    const sender = testSender();
    const early = AbortSignal.abort();
    const later = new AbortController();
    expect((await sender.send(receiver.url(), jwt, early)).failure?.code).toBe("canceled");
    expect(receiver.connectionCount()).toBe(0);
    const attempt = sender.send(receiver.url(), jwt, later.signal);
    while (receiver.requests.length === 0) await delay(5);
    later.abort();
    expect((await attempt).failure?.code).toBe("canceled");
  });

  it("gives up during a lookup too, and nothing connects afterwards", async () => {
    const receiver = await testReceiver();
    let answerLookup: () => void = () => undefined;
    const lookup = () =>
      new Promise<{ address: string; family: number }[]>((resolve) => {
        answerLookup = () => resolve([{ address: "127.0.0.1", family: 4 }]);
      });
    const sender = testSender({ lookup });
    const stop = new AbortController();
    const attempt = sender.send(receiver.url(), jwt, stop.signal);
    stop.abort();
    expect((await attempt).failure?.code).toBe("canceled");
    answerLookup();
    await delay(30);
    expect(receiver.connectionCount()).toBe(0);
  });

  it("closes the sender, and no connection is left", async () => {
    const receiver = await testReceiver();
    const sender = testSender();
    await Promise.all(Array.from({ length: 5 }, () => sender.send(receiver.url(), jwt)));
    await sender.close();
    await delay(50);
    expect(receiver.openCount()).toBe(0);
    expect((await sender.send(receiver.url(), jwt)).failure?.code).toBe("canceled");
  });
});

describe("a name with several addresses", () => {
  const lookup =
    (...addresses: string[]) =>
    async () =>
      addresses.map((address) => ({ address, family: 4 }));

  it("is tried on the next when one refuses", async () => {
    const receiver = await testReceiver({ host: "127.0.0.3" });
    const sender = testSender({ lookup: lookup("127.0.0.1", "127.0.0.2", "127.0.0.3") });
    expect((await sender.send(receiver.url(), jwt)).delivered).toBe(true);
  });

  it("is not tried on the next when the request was already sent", async () => {
    const first = await testReceiver({ behave: (socket) => socket.destroy() });
    const sender = testSender({ lookup: lookup("127.0.0.1", "127.0.0.2") });
    expect((await sender.send(first.url(), jwt)).failure?.code).toBe("connection_reset");
    expect(first.requests).toHaveLength(1);
  });
});
