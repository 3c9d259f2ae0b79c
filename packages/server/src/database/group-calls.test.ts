// Grouping: nothing is lost, mixed up or left waiting.
import fc from "fast-check";
import { expect, test } from "vitest";
import { groupCalls, OverloadError } from "./group-calls.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

test("calls that come while a group runs form the next group; keys do not wait for each other", async () => {
  const groups: [string, number[]][] = [];
  const call = groupCalls<number, number>({
    run: async (key, items) => {
      groups.push([key, [...items]]);
      await tick();
      return items.map((item) => item * 10);
    },
    groupMaxCount: 3,
    waitingMaxCount: 100,
  });
  const results = await Promise.all([
    call("a", 1),
    call("a", 2),
    call("a", 3),
    call("a", 4),
    call("a", 5),
    call("b", 6),
  ]);
  expect(results).toEqual([10, 20, 30, 40, 50, 60]);
  expect(groups).toEqual([
    ["a", [1]],
    ["b", [6]],
    ["a", [2, 3, 4]],
    ["a", [5]],
  ]);
});

test("every call is answered once with its own result, whatever fails around it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ key: fc.constantFrom("a", "b", "c"), item: fc.nat(1_000), pause: fc.boolean() }), {
        maxLength: 60,
      }),
      async (calls) => {
        const call = groupCalls<number, string>({
          run: async (key, items) => {
            await tick();
            if (items.includes(13)) throw new Error("unlucky");
            return items.map((item) => `${key}${item}`);
          },
          groupMaxCount: 5,
          waitingMaxCount: 1_000,
        });
        const settled: Promise<string>[] = [];
        for (const { key, item, pause } of calls) {
          settled.push(call(key, item).catch((error: Error) => error.message));
          if (pause) await tick();
        }
        const results = await Promise.all(settled);
        for (const [index, result] of results.entries()) {
          expect([`${calls[index]?.key}${calls[index]?.item}`, "unlucky"]).toContain(result);
          if (calls[index]?.item === 13) expect(result).toBe("unlucky");
        }
      },
    ),
  );
});

test("past the bound a call is refused at once, and there is room again afterwards", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const call = groupCalls<number, number>({
    run: async (_key, items) => {
      await held;
      return items;
    },
    groupMaxCount: 10,
    waitingMaxCount: 2,
  });
  const running = call("a", 0);
  const waiting = [call("a", 1), call("a", 2)];
  await expect(call("a", 3)).rejects.toThrow(OverloadError);
  release();
  expect(await Promise.all([running, ...waiting])).toEqual([0, 1, 2]);
  expect(await call("a", 4)).toBe(4);
});
