// Name lookups: remembered briefly, asked once, and never stalled by a name server that stays silent.
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { cachedLookup, type ResolvedAddress } from "../../../src/webhooks/sending/cached-lookup.ts";
import { createSystemLookup, type NameServices } from "../../../src/webhooks/sending/system-lookup.ts";

const found = (address = "127.0.0.1"): ResolvedAddress[] => [{ address, family: 4 }];
const notFound = () => Promise.reject(Object.assign(new Error("no such name"), { code: "ENOTFOUND" }));

describe("the remembered lookup", () => {
  function counting(answer: (hostname: string) => Promise<readonly ResolvedAddress[]>) {
    const state = { nowMs: 0, asked: 0 };
    const lookup = cachedLookup(
      (hostname) => {
        state.asked += 1;
        return answer(hostname);
      },
      () => state.nowMs,
    );
    return { state, lookup };
  }

  it("asks once for a few seconds, then again", async () => {
    const { state, lookup } = counting(async () => found());
    await Promise.all([lookup("a.test"), lookup("a.test")]);
    state.nowMs = 4_999;
    await lookup("a.test");
    expect(state.asked).toBe(1);
    state.nowMs = 5_000;
    await lookup("a.test");
    expect(state.asked).toBe(2);
  });

  it("remembers a failure for less long", async () => {
    const { state, lookup } = counting(notFound);
    await expect(lookup("a.test")).rejects.toThrow();
    state.nowMs = 1_999;
    await expect(lookup("a.test")).rejects.toThrow();
    expect(state.asked).toBe(1);
    state.nowMs = 2_000;
    await expect(lookup("a.test")).rejects.toThrow();
    expect(state.asked).toBe(2);
  });

  it("asks again when a lookup has hung for as long as anyone would wait", async () => {
    let hangs = true;
    const { state, lookup } = counting(() =>
      hangs ? new Promise(() => undefined) : Promise.resolve(found()),
    );
    void lookup("a.test");
    state.nowMs = 9_999;
    void lookup("a.test");
    expect(state.asked).toBe(1);
    hangs = false;
    state.nowMs = 10_000;
    expect(await lookup("a.test")).toEqual(found());
  });

  it("forgets the oldest of more than a thousand names", async () => {
    const { state, lookup } = counting(async () => found());
    for (let index = 0; index <= 1_000; index += 1) await lookup(`${index}.test`);
    await lookup("1.test");
    expect(state.asked).toBe(1_001);
    await lookup("0.test");
    expect(state.asked).toBe(1_002);
  });

  it("takes a lookup that throws for one that failed", async () => {
    const { lookup } = counting(() => {
      throw new Error("at once");
    });
    await expect(lookup("a.test")).rejects.toThrow("at once");
  });
});

describe("the system's lookup", () => {
  const services = (overrides: Partial<NameServices>): NameServices => ({
    lookup: async () => found(),
    resolve4: notFound,
    resolve6: notFound,
    ...overrides,
  });

  it("asks the system alone when it answers", async () => {
    let overNetwork = 0;
    const count = async () => {
      overNetwork += 1;
      return ["127.0.0.9"];
    };
    const lookup = createSystemLookup(services({ resolve4: count, resolve6: count }));
    expect(await lookup("a.test")).toEqual(found());
    await delay(700);
    expect(overNetwork).toBe(0);
  });

  it("says that a name does not exist", async () => {
    await expect(createSystemLookup(services({ lookup: notFound }))("a.test")).rejects.toMatchObject({
      code: "ENOTFOUND",
    });
  });

  it("blocks two threads at the most", async () => {
    let running = 0;
    let most = 0;
    const lookup = createSystemLookup(
      services({
        lookup: async () => {
          most = Math.max(most, ++running);
          await delay(5);
          running -= 1;
          return found();
        },
      }),
    );
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => lookup(`${index}.test`)));
    expect(answers).toEqual(Array.from({ length: 20 }, () => found()));
    expect(most).toBe(2);
  });

  it("answers for good names while silent ones hold every thread", async () => {
    const silent = () => new Promise<never>(() => undefined);
    const lookup = createSystemLookup({
      lookup: silent,
      resolve4: (hostname) => (hostname.startsWith("good") ? Promise.resolve(["127.0.0.4"]) : silent()),
      resolve6: (hostname) => (hostname.startsWith("good") ? notFound() : silent()),
    });
    for (let index = 0; index < 50; index += 1) lookup(`silent-${index}.test`).catch(() => undefined);
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => lookup(`good-${index}.test`)));
    expect(answers).toEqual(Array.from({ length: 50 }, () => found("127.0.0.4")));
  });

  it("waits for the system when the network does not know a name that the hosts file may", async () => {
    const lookup = createSystemLookup(
      services({
        lookup: async () => {
          await delay(700);
          return found("127.0.0.7");
        },
      }),
    );
    expect(await lookup("a.test")).toEqual(found("127.0.0.7"));
  });

  it("knows localhost", async () => {
    const addresses = (await createSystemLookup()("localhost")).map(({ address }) => address);
    expect(addresses.length).toBeGreaterThan(0);
    for (const address of addresses) expect(["127.0.0.1", "::1"]).toContain(address);
  });
});
