// What the webhook settings do to deliveries: each event has one, made with it in one transaction.
import type { Env } from "@coinslot/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buy, createContent, createGame } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const envs: Env[] = ["PRODUCTION", "PLAYTEST"];
const setUrl = async (gameId: string, env: Env, url: string) => {
  const answer = await service.call("PUT", `/api/games/${gameId}/webhooks/${env}`, { body: { url } });
  expect(answer.status).toBe(200);
};
const refund = (bought: { gameId: string; purchaseId: string }) =>
  service.call("POST", `/api/games/${bought.gameId}/purchases/${bought.purchaseId}/refund`);

interface Delivery {
  readonly event: string;
  readonly env: Env;
  readonly state: string;
  readonly attemptCount: number;
  readonly due: boolean;
}

/** The deliveries of a game in the order of their events. */
async function deliveries(gameId: string): Promise<Delivery[]> {
  const rows = await service.database.sql<(Delivery & { eventEnv: Env })[]>`
    SELECT e.event, d.env, e.env AS event_env, d.state, d.attempt_count,
      d.next_attempt_at = d.created_at AND d.created_at = e.created_at AS due
    FROM events e LEFT JOIN deliveries d ON d.game_id = e.game_id AND d.event_position = e.position
    WHERE e.game_id = ${gameId} ORDER BY e.position`;
  return rows.map(({ eventEnv, due, ...row }) => {
    expect(row.env).toBe(eventEnv);
    return { ...row, due: due ?? false };
  });
}
const states = async (gameId: string) => (await deliveries(gameId)).map((row) => row.state);

describe.each(envs)("deliveries in %s", (env) => {
  test.each(["CONSUMABLE", "DURABLE"] as const)(
    "PENDING and due at once with a URL, for the purchase and the refund of a %s",
    async (type) => {
      const gameId = await createGame(service);
      await setUrl(gameId, env, "https://game.example/hook");
      const bought = await buy(service, { gameId, env, type });
      await refund(bought);
      const common = { env, state: "PENDING", attemptCount: 0, due: true };
      expect(await deliveries(gameId)).toEqual([
        { event: "purchase.completed", ...common },
        { event: "purchase.refunded", ...common },
      ]);
    },
  );

  test("NOT_SENT without a URL, for purchase and refund", async () => {
    const gameId = await createGame(service);
    await refund(await buy(service, { gameId, env }));
    const common = { env, state: "NOT_SENT", attemptCount: 0, due: false };
    expect(await deliveries(gameId)).toEqual([
      { event: "purchase.completed", ...common },
      { event: "purchase.refunded", ...common },
    ]);
  });

  test("NOT_SENT when only the other environment or another game has a URL", async () => {
    const gameId = await createGame(service);
    const otherEnv = env === "PRODUCTION" ? "PLAYTEST" : "PRODUCTION";
    await setUrl(gameId, otherEnv, "https://game.example/hook");
    await setUrl(await createGame(service), env, "https://other.example/hook");
    await buy(service, { gameId, env });
    expect(await states(gameId)).toEqual(["NOT_SENT"]);
  });

  test("CANCELED when the URL is blanked, and NOT_SENT from then on", async () => {
    const gameId = await createGame(service);
    await setUrl(gameId, env, "https://game.example/hook");
    const bought = await buy(service, { gameId, env });
    await setUrl(gameId, env, "");
    expect(await states(gameId)).toEqual(["CANCELED"]);
    await refund(bought);
    await buy(service, { gameId, env });
    expect(await states(gameId)).toEqual(["CANCELED", "NOT_SENT", "NOT_SENT"]);
    expect((await deliveries(gameId)).every((row) => !row.due)).toBe(true);
  });

  test("a new URL leaves what is pending, canceled and not sent as it is; new events are PENDING", async () => {
    const gameId = await createGame(service);
    await buy(service, { gameId, env });
    await setUrl(gameId, env, "https://one.example/hook");
    await buy(service, { gameId, env });
    await setUrl(gameId, env, "");
    await setUrl(gameId, env, "https://two.example/hook");
    await buy(service, { gameId, env });
    await setUrl(gameId, env, "https://three.example/hook");
    expect(await states(gameId)).toEqual(["NOT_SENT", "CANCELED", "PENDING"]);
  });
});

describe("blanking a URL cancels no more than it should", () => {
  test("the other environment's deliveries stay PENDING", async () => {
    const gameId = await createGame(service);
    for (const env of envs) await setUrl(gameId, env, "https://game.example/hook");
    for (const env of envs) await buy(service, { gameId, env });
    await setUrl(gameId, "PLAYTEST", "");
    expect((await deliveries(gameId)).map((row) => [row.env, row.state])).toEqual([
      ["PRODUCTION", "PENDING"],
      ["PLAYTEST", "CANCELED"],
    ]);
  });

  test("another game's deliveries stay PENDING", async () => {
    const [mine, other] = [await createGame(service), await createGame(service)];
    for (const gameId of [mine, other]) {
      await setUrl(gameId, "PRODUCTION", "https://game.example/hook");
      await buy(service, { gameId });
    }
    await setUrl(mine, "PRODUCTION", "");
    expect(await states(mine)).toEqual(["CANCELED"]);
    expect(await states(other)).toEqual(["PENDING"]);
  });

  test("a delivery that is done stays as it is", async () => {
    const gameId = await createGame(service);
    await setUrl(gameId, "PRODUCTION", "https://game.example/hook");
    for (const state of ["DELIVERED", "FAILED"]) {
      await buy(service, { gameId });
      await service.database.sql`
        UPDATE deliveries SET state = ${state}, next_attempt_at = NULL
        WHERE game_id = ${gameId} AND state = 'PENDING'`;
    }
    await setUrl(gameId, "PRODUCTION", "");
    expect(await states(gameId)).toEqual(["DELIVERED", "FAILED"]);
  });

  test("a URL that is refused cancels nothing", async () => {
    const gameId = await createGame(service);
    await setUrl(gameId, "PRODUCTION", "https://game.example/hook");
    await buy(service, { gameId });
    const path = `/api/games/${gameId}/webhooks/PRODUCTION`;
    for (const url of ["   ", "http://game.example/hook", null]) {
      expect((await service.call("PUT", path, { body: { url } })).status).toBe(400);
    }
    expect(await states(gameId)).toEqual(["PENDING"]);
  });
});

describe("one delivery an event", () => {
  test("refunding twice makes no second event and no second delivery", async () => {
    const gameId = await createGame(service);
    const bought = await buy(service, { gameId });
    await Promise.all([refund(bought), refund(bought), refund(bought)]);
    expect(await states(gameId)).toEqual(["NOT_SENT", "NOT_SENT"]);
  });

  test("many purchases at once get one each", async () => {
    const gameId = await createGame(service);
    await setUrl(gameId, "PLAYTEST", "https://game.example/hook");
    const contentIdentifier = await createContent(service, gameId, "CONSUMABLE");
    await Promise.all(
      Array.from({ length: 25 }, (_, number) =>
        buy(service, { gameId, contentIdentifier, env: envs[number % 2] ?? "PLAYTEST" }),
      ),
    );
    const rows = await deliveries(gameId);
    expect(rows).toHaveLength(25);
    for (const row of rows) expect(row.state).toBe(row.env === "PLAYTEST" ? "PENDING" : "NOT_SENT");
  });
});
