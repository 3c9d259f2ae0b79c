// Fulfil under real concurrency: one FULFILLED a purchase, and none after a refund.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bought, buy, createContent, createGame, createPlayerToken } from "../support/seed.ts";
import { startBeside, startTestService, type TestService } from "../support/test-service.ts";

/** Two processes' worth of service on one database: groups of one cannot hide races of the other. */
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

const fulfill = (at: TestService, { purchaseId, receiptJwt }: Bought) =>
  at.call("POST", `/api/purchases/${purchaseId}/fulfill`, { token: null, body: { receiptJwt } });

test("1,000 concurrent calls give exactly one FULFILLED", async () => {
  const bought = await buy(service);
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_, i) => fulfill(i % 2 === 0 ? service : second, bought)),
  );
  const statuses = answers.map((answer) => answer.body.status);
  expect(statuses.filter((status) => status === "FULFILLED")).toHaveLength(1);
  expect(statuses.filter((status) => status === "ALREADY_FULFILLED")).toHaveLength(999);
  expect(answers.every((answer) => answer.status === 200)).toBe(true);
});

test("the receipt's and the player's fulfil at once give exactly one FULFILLED", async () => {
  const bought = await buy(service);
  const token = await createPlayerToken(service, bought.gameId, bought.userId);
  const path = `/api/games/${bought.gameId}/me/purchases/${bought.purchaseId}/fulfill`;
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, i) =>
      i % 2 === 0 ? fulfill(service, bought) : second.call("POST", path, { token }),
    ),
  );
  expect(answers.filter((answer) => answer.body.status === "FULFILLED")).toHaveLength(1);
});

/** What a purchase may do, in a dozen lines: the truth that the service is held against. */
class Model {
  state: "COMPLETED" | "FULFILLED" | "REFUNDED" = "COMPLETED";
  readonly type: "CONSUMABLE" | "DURABLE";
  events = 1;
  constructor(type: "CONSUMABLE" | "DURABLE") {
    this.type = type;
  }
  fulfill(): string {
    if (this.state === "REFUNDED") return "NOT_FOUND";
    if (this.type === "DURABLE" || this.state === "FULFILLED") return "ALREADY_FULFILLED";
    this.state = "FULFILLED";
    return "FULFILLED";
  }
  refund(): string {
    if (this.state !== "REFUNDED") this.events++;
    this.state = "REFUNDED";
    return "REFUNDED";
  }
}

type Step = "fulfill" | "player" | "refund";
const step = fc.constantFrom<Step>("fulfill", "player", "refund");
const type = fc.constantFrom("CONSUMABLE" as const, "DURABLE" as const);

interface Stage {
  readonly gameId: string;
  readonly contents: Record<"CONSUMABLE" | "DURABLE", string>;
}
async function setStage(): Promise<Stage> {
  const gameId = await createGame(service);
  const [CONSUMABLE, DURABLE] = [
    await createContent(service, gameId, "CONSUMABLE"),
    await createContent(service, gameId, "DURABLE"),
  ];
  return { gameId, contents: { CONSUMABLE, DURABLE } };
}

async function act(bought: Bought, token: string, what: Step, at: TestService): Promise<string> {
  const base = `/api/games/${bought.gameId}`;
  switch (what) {
    case "fulfill":
      return (await fulfill(at, bought)).body.status;
    case "player":
      return (await at.call("POST", `${base}/me/purchases/${bought.purchaseId}/fulfill`, { token })).body
        .status;
    case "refund":
      return (await at.call("POST", `${base}/purchases/${bought.purchaseId}/refund`)).body.purchase.state;
  }
}

async function eventsOf(bought: Bought): Promise<number> {
  const [row] = await service.database.sql<[{ count: number }]>`
    SELECT count(*)::int AS count FROM events e JOIN deliveries d
      ON d.game_id = e.game_id AND d.event_position = e.position
    WHERE e.game_id = ${bought.gameId} AND e.purchase_id = ${bought.purchaseId}`;
  return row.count;
}

test("one step after another, the service does what the model does", async () => {
  const { gameId, contents } = await setStage();
  await fc.assert(
    fc.asyncProperty(type, fc.array(step, { minLength: 1, maxLength: 6 }), async (kind, steps) => {
      const bought = await buy(service, { gameId, contentIdentifier: contents[kind] });
      const token = await createPlayerToken(service, gameId, bought.userId);
      const model = new Model(kind);
      for (const what of steps) {
        const expected = what === "refund" ? model.refund() : model.fulfill();
        expect(await act(bought, token, what, service)).toBe(expected);
      }
      const { body } = await service.call("GET", `/api/games/${gameId}/purchases/${bought.purchaseId}`);
      expect(body.purchase.state).toBe(model.state);
      expect(await eventsOf(bought)).toBe(model.events);
    }),
    { numRuns: 40 },
  );
});

test("concurrent steps answer as if they had come in some order", async () => {
  const { gameId, contents } = await setStage();
  await fc.assert(
    fc.asyncProperty(
      fc.array(type, { minLength: 1, maxLength: 3 }),
      fc.array(fc.array(fc.tuple(fc.nat(2), step, fc.boolean()), { minLength: 1, maxLength: 8 }), {
        minLength: 1,
        maxLength: 3,
      }),
      async (kinds, rounds) => {
        const purchases = await Promise.all(
          kinds.map(async (kind) => {
            const bought = await buy(service, { gameId, contentIdentifier: contents[kind] });
            const token = await createPlayerToken(service, gameId, bought.userId);
            return { kind, bought, token, seen: [] as { what: Step; answer: string }[][] };
          }),
        );
        for (const round of rounds) {
          const answers = await Promise.all(
            round.map(async ([index, what, elsewhere]) => {
              const purchase = purchases[index % purchases.length];
              if (purchase === undefined) throw new Error("no purchase");
              const answer = await act(purchase.bought, purchase.token, what, elsewhere ? second : service);
              return { purchase, step: { what, answer } };
            }),
          );
          for (const purchase of purchases) {
            purchase.seen.push(
              answers.filter((answer) => answer.purchase === purchase).map(({ step }) => step),
            );
          }
        }
        for (const { kind, bought, seen } of purchases) {
          const model = new Model(kind);
          for (const round of seen) expect(explains(model, round), JSON.stringify(round)).toBe(true);
          expect(await eventsOf(bought)).toBe(model.events);
          const { body } = await service.call("GET", `/api/games/${gameId}/purchases/${bought.purchaseId}`);
          expect(body.purchase.state).toBe(model.state);
        }
      },
    ),
    { numRuns: 40 },
  );
});

/**
 * Whether some order of the round gives these answers, and moves the model on. One refund and at most one first
 * fulfil matter, so the order is forced: FULFILLED, then ALREADY_FULFILLED, then refunds, then NOT_FOUND.
 */
function explains(model: Model, round: readonly { what: Step; answer: string }[]): boolean {
  const order = ["FULFILLED", "ALREADY_FULFILLED", "REFUNDED", "NOT_FOUND"];
  const sorted = [...round].sort((a, b) => order.indexOf(a.answer) - order.indexOf(b.answer));
  return sorted.every(
    ({ what, answer }) => (what === "refund" ? model.refund() : model.fulfill()) === answer,
  );
}
