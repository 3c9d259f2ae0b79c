// The events feed: complete, in order, and safe to follow while purchases commit from several processes.
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createEventSignal } from "../../src/events/event-signal.ts";
import { StalledReader, streamEvents } from "../../src/events/stream-events.ts";
import { buy, createContent, createGame, createToken } from "../support/seed.ts";
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

interface FeedEvent {
  readonly id: string;
  readonly purchaseId: string;
  readonly event: string;
}

test("200 with every receipt in order, a page at a time; the end says null", async () => {
  const { gameId, purchaseId, receiptJwt, contentIdentifier } = await buy(service);
  await buy(service, { gameId, contentIdentifier, env: "PLAYTEST" });
  await service.call("POST", `/api/games/${gameId}/purchases/${purchaseId}/refund`);
  const token = await createToken(service, gameId, "purchases:read");
  const read = async (query: string) =>
    (await service.call("GET", `/api/games/${gameId}/events?${query}`, { token })).body;
  const first = await read("limit=2");
  expect(first.events).toHaveLength(2);
  expect(first.events[0]).toEqual({
    id: expect.stringMatching(/^evt_/),
    event: "purchase.completed",
    env: "PRODUCTION",
    purchaseId,
    receiptJwt,
    createdAt: expect.any(String),
  });
  const rest = await read(`after=${first.nextCursor}&limit=2`);
  expect(rest.events.map((event: FeedEvent) => event.event)).toEqual(["purchase.refunded"]);
  expect(rest.nextCursor).toBeNull();
  expect((await read(`after=${rest.events[0].id}`)).events).toEqual([]);
  expect((await read("env=PLAYTEST")).events).toHaveLength(1);
});

test.each([["after=evt_nothing"], ["after=%00"], ["after=1"], ["limit=x"], ["env=production"]])(
  "400 for %s",
  async (query) => {
    const gameId = await createGame(service);
    const answer = await service.call("GET", `/api/games/${gameId}/events?${query}`);
    expect([answer.status, answer.body.code]).toEqual([400, "invalid_input"]);
  },
);

test("400 for the cursor of another game", async () => {
  const [one, other] = [await buy(service), await buy(service)];
  const { body } = await service.call("GET", `/api/games/${one.gameId}/events`);
  const answer = await service.call("GET", `/api/games/${other.gameId}/events?after=${body.events[0].id}`);
  expect([answer.status, answer.body.field]).toEqual([400, "after"]);
});

test("a reader that follows while two processes sell and refund misses nothing", async () => {
  const gameId = await createGame(service);
  const contentIdentifier = await createContent(service, gameId, "CONSUMABLE");
  const seen: FeedEvent[] = [];
  let selling = true;
  const follow = async () => {
    for (;;) {
      const last = !selling;
      const after = seen.at(-1)?.id;
      const { body } = await service.call(
        "GET",
        `/api/games/${gameId}/events?limit=7${after === undefined ? "" : `&after=${after}`}`,
      );
      seen.push(...body.events);
      if (last && body.events.length === 0) return;
    }
  };
  const following = follow();
  await Promise.all(
    Array.from({ length: 16 }, async (_, worker) => {
      const at = worker % 2 === 0 ? service : second;
      for (let i = 0; i < 8; i++) {
        const { purchaseId } = await buy(at, { gameId, contentIdentifier, userId: `w${worker}` });
        if (i % 4 === 0) await at.call("POST", `/api/games/${gameId}/purchases/${purchaseId}/refund`);
      }
    }),
  );
  selling = false;
  await following;
  const all = await service.database.sql<
    { id: string }[]
  >`SELECT id FROM events WHERE game_id = ${gameId} ORDER BY position`;
  expect(all).toHaveLength(16 * 8 + 16 * 2);
  expect(seen.map((event) => event.id)).toEqual(all.map((row) => row.id));
});

test("an event that is written but not committed holds back those behind it", async () => {
  const { gameId, contentIdentifier } = await buy(service);
  const { sql } = service.database;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow = sql.begin(async (tx) => {
    await tx`UPDATE game_feeds SET last_position = last_position + 1 WHERE game_id = ${gameId}`;
    await held;
  });
  let settled = false;
  const behind = buy(service, { gameId, contentIdentifier }).then((bought) => {
    settled = true;
    return bought;
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(settled).toBe(false);
  release();
  await slow;
  const bought = await behind;
  const { body } = await service.call("GET", `/api/games/${gameId}/events`);
  expect(body.events.at(-1).purchaseId).toBe(bought.purchaseId);
});

describe("stream", () => {
  /** Reads server-sent events until `count` have come. */
  async function readStream(
    response: Response,
    count: number,
  ): Promise<{ id: string; event: string; data: FeedEvent }[]> {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    if (reader === undefined) throw new Error("no body");
    let text = "";
    const messages = () =>
      [...text.matchAll(/id: (.*)\nevent: (.*)\ndata: (.*)\n\n/g)].map(
        ([, id = "", event = "", data = "{}"]) => ({
          id,
          event,
          data: JSON.parse(data),
        }),
      );
    while (messages().length < count) {
      const { value, done } = await reader.read();
      if (done) break;
      text += value;
    }
    return messages();
  }

  test("200: what was there, then what comes, from another process too", async () => {
    const bought = await buy(service);
    const { gameId, contentIdentifier } = bought;
    const token = await createToken(service, gameId, "purchases:read");
    const leave = new AbortController();
    const response = await fetch(`${service.url}/api/games/${gameId}/events/stream`, {
      headers: { authorization: `Bearer ${token}` },
      signal: leave.signal,
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    const reading = readStream(response, 3);
    const here = await buy(service, { gameId, contentIdentifier });
    const there = await buy(second, { gameId, contentIdentifier });
    const messages = await reading;
    leave.abort();
    expect(messages.map((message) => message.data.purchaseId)).toEqual([
      bought.purchaseId,
      here.purchaseId,
      there.purchaseId,
    ]);

    const resumed = new AbortController();
    const again = await fetch(`${service.url}/api/games/${gameId}/events/stream`, {
      headers: { authorization: `Bearer ${token}`, "last-event-id": messages[1]?.id ?? "" },
      signal: resumed.signal,
    });
    const [next] = await readStream(again, 1);
    resumed.abort();
    expect(next?.data.purchaseId).toBe(there.purchaseId);
  });

  test("429 when one credential holds too many streams open", async () => {
    const { gameId } = await buy(service);
    const token = await createToken(service, gameId, "purchases:read");
    const leave = new AbortController();
    const open = () =>
      fetch(`${service.url}/api/games/${gameId}/events/stream`, {
        headers: { authorization: `Bearer ${token}` },
        signal: leave.signal,
      });
    const streams = await Promise.all(Array.from({ length: 20 }, open));
    expect(streams.every((stream) => stream.status === 200)).toBe(true);
    expect((await open()).status).toBe(429);
    leave.abort();
  });

  test("a revoked access token gets no further receipt", async () => {
    const { gameId, contentIdentifier } = await buy(service);
    const created = await service.call("POST", `/api/games/${gameId}/tokens`, {
      body: { label: "x", scopes: ["purchases:read"] },
    });
    const response = await fetch(`${service.url}/api/games/${gameId}/events/stream`, {
      headers: { authorization: `Bearer ${created.body.accessToken}` },
    });
    const reading = readStream(response, 2);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await service.call("DELETE", `/api/games/${gameId}/tokens/${created.body.token.id}`);
    service.advance(1_001);
    await buy(service, { gameId, contentIdentifier });
    expect(await reading).toHaveLength(1);
  });

  test("a reader that takes nothing in is given up after 30 s", async () => {
    const { gameId, contentIdentifier } = await buy(service);
    await Promise.all(Array.from({ length: 40 }, () => buy(service, { gameId, contentIdentifier })));
    // Without a socket, what is written stays where it is.
    const out = new ServerResponse(new IncomingMessage(new Socket()));
    const waits: number[] = [];
    const clock = {
      nowMs: () => 0,
      sleep: async (ms: number) => {
        waits.push(ms);
      },
    };
    const streaming = streamEvents(
      { sql: service.database.sql, clock, events: createEventSignal(clock) },
      out,
      {
        gameId,
        position: "0",
        env: undefined,
        recheck: async () => undefined,
        signal: new AbortController().signal,
      },
    );
    await expect(streaming).rejects.toBeInstanceOf(StalledReader);
    expect(waits).toEqual([30_000]);
    expect(out.writableLength).toBeLessThan(32 * 1024);
  });

  test("a slow reader is rechecked in the middle of a page", async () => {
    const { gameId, contentIdentifier } = await buy(service);
    await buy(service, { gameId, contentIdentifier });
    const out = new ServerResponse(new IncomingMessage(new Socket()));
    const write = vi.spyOn(out, "write");
    // Each look at the clock is a second later than the one before.
    let nowMs = 0;
    const clock = {
      nowMs: () => {
        nowMs += 1_001;
        return nowMs;
      },
      sleep: async () => undefined,
    };
    let checks = 0;
    const recheck = async () => {
      checks++;
      if (checks === 2) throw new Error("revoked");
    };
    const streaming = streamEvents(
      { sql: service.database.sql, clock, events: createEventSignal(clock) },
      out,
      { gameId, position: "0", env: undefined, recheck, signal: new AbortController().signal },
    );
    await expect(streaming).rejects.toThrow("revoked");
    expect(write.mock.calls.map(([text]) => String(text).slice(0, 3))).toEqual([": c", "id:"]);
  });
});
