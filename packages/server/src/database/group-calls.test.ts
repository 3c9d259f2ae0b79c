// Grouping: nothing is lost, mixed up or left waiting.
import fc from "fast-check";
import { expect, test } from "vitest";
import { groupCalls, OverloadError } from "./group-calls.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

test("calls that come together go together, up to the size of a group; keys take turns", async () => {
  const groups: [string, number[]][] = [];
  const call = groupCalls<number, number>({
    run: async (key, items) => {
      groups.push([key, [...items]]);
      await tick();
      return items.map((item) => item * 10);
    },
    groupMaxCount: 3,
    runningMaxCount: 1,
    waitingMaxCount: 100,
  });
  const results = await Promise.all([1, 2, 3, 4, 5].map((item) => call("a", item)).concat(call("b", 6)));
  expect(results).toEqual([10, 20, 30, 40, 50, 60]);
  expect(groups).toEqual([
    ["a", [1, 2, 3]],
    ["b", [6]],
    ["a", [4, 5]],
  ]);
});

test("every call is answered once with its own result, whatever fails around it; bounds are kept", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(
        fc.record({ key: fc.constantFrom("a", "b", "c", "d"), item: fc.nat(1_000), pause: fc.boolean() }),
        {
          maxLength: 60,
        },
      ),
      async (runningMaxCount, calls) => {
        const running = new Set<string>();
        const call = groupCalls<number, string>({
          run: async (key, items) => {
            expect(running.has(key)).toBe(false);
            running.add(key);
            expect(running.size).toBeLessThanOrEqual(runningMaxCount);
            expect(items.length).toBeLessThanOrEqual(5);
            await tick();
            running.delete(key);
            if (items.includes(13)) throw new Error("unlucky");
            return items.map((item) => `${key}${item}`);
          },
          groupMaxCount: 5,
          runningMaxCount,
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
        expect(running.size).toBe(0);
      },
    ),
  );
});

test("a group that hangs holds up its own key and nobody else", async () => {
  const { open, opened } = gate();
  const call = groupCalls<number, number>({
    run: async (key, items) => {
      if (key === "slow") await opened;
      return items;
    },
    groupMaxCount: 10,
    runningMaxCount: 2,
    waitingMaxCount: 100,
  });
  const slow = [call("slow", 1)];
  await tick();
  slow.push(call("slow", 2));
  expect(await Promise.all([call("a", 3), call("b", 4), call("a", 5)])).toEqual([3, 4, 5]);
  open();
  expect(await Promise.all(slow)).toEqual([1, 2]);
});

test("past the bound a call is refused at once, and there is room again afterwards", async () => {
  const { open, opened } = gate();
  const call = groupCalls<number, number>({
    run: async (_key, items) => {
      await opened;
      return items;
    },
    groupMaxCount: 10,
    runningMaxCount: 1,
    waitingMaxCount: 2,
  });
  const running = call("a", 0);
  await tick();
  const waiting = [call("a", 1), call("b", 2)];
  await expect(call("a", 3)).rejects.toThrow(OverloadError);
  open();
  expect(await Promise.all([running, ...waiting])).toEqual([0, 1, 2]);
  expect(await call("a", 4)).toBe(4);
});
