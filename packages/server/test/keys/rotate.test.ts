// Rotation, on one service and on a second one that shares its database.
import { randomBytes } from "node:crypto";
import { limits } from "@coinslot/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { createIds } from "../../src/ids.ts";
import { listKeys } from "../../src/keys/list-keys.ts";
import { type RotateOutcome, rotateKeys } from "../../src/keys/rotate-keys.ts";
import { fulfill, kidOf } from "../receipts/forgery-kit.ts";
import { buy } from "../support/seed.ts";
import { startBeside, startTestService, type TestService } from "../support/test-service.ts";

let service: TestService;
let second: TestService;
beforeAll(async () => {
  service = await startTestService();
  second = await startBeside(service);
});
afterAll(async () => {
  await second.stop();
  await service.stop();
});

function rotate(wish: { now: boolean; laterMs?: number }): Promise<RotateOutcome> {
  const clock = { ...systemClock, nowMs: () => Date.now() + (wish.laterMs ?? 0) };
  const deps = { clock, ids: createIds(clock, randomBytes), masterKey: service.masterKey };
  return rotateKeys(service.database.sql, deps, { evenIfUnpublished: wish.now });
}

interface Seat {
  readonly kid: string;
  readonly hasPrivate: boolean;
}
async function seats(): Promise<Record<string, Seat[]>> {
  const rows = await service.database.sql<(Seat & { state: string })[]>`
    SELECT kid, state, private_sealed IS NOT NULL AS has_private FROM signing_keys ORDER BY created_at, kid`;
  const byState: Record<string, Seat[]> = {};
  for (const { state, kid, hasPrivate } of rows)
    byState[state] = [...(byState[state] ?? []), { kid, hasPrivate }];
  return byState;
}

async function publishedKids(of: TestService = service): Promise<string[]> {
  const { body } = await of.call("GET", "/.well-known/jwks.json", { token: null });
  return body.keys.map((key: { kid: string }) => key.kid).sort();
}

describe("rotate", () => {
  it("the next key signs, the old one retires without its private half, and its receipts still verify", async () => {
    const before = await seats();
    const old = await buy(service);
    expect(kidOf(old.receiptJwt)).toBe(before["ACTIVE"]?.[0]?.kid);
    const publishedBefore = await publishedKids();

    const outcome = await rotate({ now: true });
    await service.app.keyring.refresh();

    const after = await seats();
    const [activeKid, retiredKid] = [before["NEXT"]?.[0]?.kid, before["ACTIVE"]?.[0]?.kid];
    expect(outcome).toEqual({ rotated: true, activeKid, retiredKid });
    expect(after["ACTIVE"]).toEqual([{ kid: activeKid, hasPrivate: true }]);
    expect(after["RETIRED"]).toEqual([{ kid: retiredKid, hasPrivate: false }]);
    expect(after["NEXT"]).toEqual([{ kid: expect.stringMatching(/^key_/), hasPrivate: true }]);
    expect(publishedBefore).not.toContain(after["NEXT"]?.[0]?.kid);
    expect(await publishedKids()).toEqual([...publishedBefore, after["NEXT"]?.[0]?.kid].sort());

    const fresh = await buy(service);
    expect(kidOf(fresh.receiptJwt)).toBe(activeKid);
    for (const bought of [old, fresh])
      expect((await fulfill(service, bought.purchaseId, bought.receiptJwt)).body).toEqual({
        status: "FULFILLED",
      });
  });

  it("is refused while receivers may not know the next key, and says when it can be done", async () => {
    const before = await seats();
    const [next] = (await listKeys(service.database.sql)).filter((key) => key.state === "NEXT");
    const publishedForMs = 2 * limits.jwksMaxAgeMs;
    const readyAt = new Date((next?.createdAt.getTime() ?? 0) + publishedForMs);
    expect(await rotate({ now: false })).toEqual({ rotated: false, readyAt });
    expect(await rotate({ now: false, laterMs: publishedForMs - 60_000 })).toEqual({
      rotated: false,
      readyAt,
    });
    expect(await seats()).toEqual(before);
    expect(await rotate({ now: false, laterMs: publishedForMs + 1_000 })).toMatchObject({ rotated: true });
  });

  it("several at once: one rotates, the others are told that the new next key is too young", async () => {
    const before = await seats();
    const laterMs = 6 * limits.jwksMaxAgeMs;
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => rotate({ now: false, laterMs })));
    expect(outcomes.filter((outcome) => outcome.rotated)).toHaveLength(1);
    const after = await seats();
    expect(after["ACTIVE"]).toEqual(before["NEXT"]);
    expect(after["NEXT"]).toHaveLength(1);
    expect(after["RETIRED"]).toHaveLength((before["RETIRED"]?.length ?? 0) + 1);
  });

  it("three forced at once: each takes its turn, and no private half is left behind", async () => {
    const bought = await buy(service);
    const before = await seats();
    const outcomes = await Promise.all(Array.from({ length: 3 }, () => rotate({ now: true })));
    expect(new Set(outcomes.map((outcome) => outcome.rotated && outcome.activeKid)).size).toBe(3);
    const after = await seats();
    expect(after["RETIRED"]).toHaveLength((before["RETIRED"]?.length ?? 0) + 3);
    expect(after["RETIRED"]?.some((key) => key.hasPrivate)).toBe(false);
    await service.app.keyring.refresh();
    expect(kidOf((await buy(service)).receiptJwt)).toBe(after["ACTIVE"]?.[0]?.kid);
    expect((await fulfill(service, bought.purchaseId, bought.receiptJwt)).status).toBe(200);
  });
});

describe("a second process on the same database", () => {
  it("follows a rotation within five seconds: it signs with the new key, publishes it and verifies both", async () => {
    const old = await buy(service);
    const outcome = await rotate({ now: true });
    if (!outcome.rotated) throw new Error("Not rotated.");
    const nextKid = (await seats())["NEXT"]?.[0]?.kid ?? "";

    const inTime = { timeout: 5_000, interval: 50 };
    await Promise.all(
      [service, second].map((each) => expect.poll(() => publishedKids(each), inTime).toContain(nextKid)),
    );
    for (const each of [service, second]) {
      const bought = await buy(each);
      expect(kidOf(bought.receiptJwt)).toBe(outcome.activeKid);
      const crossed = await fulfill(each === second ? service : second, bought.purchaseId, bought.receiptJwt);
      expect(crossed.body).toEqual({ status: "FULFILLED" });
    }
    expect((await fulfill(second, old.purchaseId, old.receiptJwt)).body).toEqual({ status: "FULFILLED" });
  });

  it("verifies a receipt of a key it has never seen by looking at once", async () => {
    // Twice, so that the key that signs now was not even published when the second process last looked.
    await rotate({ now: true });
    await rotate({ now: true });
    await service.app.keyring.refresh();
    const bought = await buy(service);
    // A look is allowed once a second.
    second.advance(1_500);
    expect((await fulfill(second, bought.purchaseId, bought.receiptJwt)).body).toEqual({
      status: "FULFILLED",
    });
  });
});
