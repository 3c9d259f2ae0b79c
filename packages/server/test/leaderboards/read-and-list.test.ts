// GET .../leaderboards and GET one, by id and by name.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createGame, createPlayerToken, createToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { addresses, createBoard, wire } from "./board.ts";

let service: TestService;
let gameId: string;
const names = ["a-1", "a_2", "b", "b-b", "c9", "d", "e"];
beforeAll(async () => {
  service = await startTestService();
  gameId = await createGame(service);
  for (const name of names) await createBoard(service, { gameId, name });
  await createBoard(service, { name: "of-another-game" });
});
afterAll(() => service.stop());

const list = (query: string, token?: string) =>
  service.call("GET", `/api/games/${gameId}/leaderboards${query}`, token === undefined ? {} : { token });

describe.each(addresses)("GET by $by", ({ of, ofNone }) => {
  test("200 with exactly the six fields", async () => {
    const board = await createBoard(service);
    const { status, body } = await service.call("GET", of(board));
    expect(status).toBe(200);
    expect(body).toStrictEqual({ leaderboard: wire(board) });
  });

  test("200 for leaderboards:read and a player of the game; 403 for a writer and another game's token", async () => {
    const board = await createBoard(service);
    const other = await createGame(service);
    const callers: [string, number][] = [
      [await createToken(service, board.gameId, "leaderboards:read"), 200],
      [await createPlayerToken(service, board.gameId, "ann"), 200],
      [await createToken(service, board.gameId, "leaderboards:write"), 403],
      [await createToken(service, other, "leaderboards:read"), 403],
      [await createPlayerToken(service, other, "ann"), 403],
    ];
    for (const [token, status] of callers) {
      expect((await service.call("GET", of(board), { token })).status).toBe(status);
    }
    expect((await service.call("GET", of(board), { token: null })).status).toBe(401);
  });

  test("404 for a missing board, another game's board and a missing game", async () => {
    const board = await createBoard(service);
    for (const path of [ofNone(board.gameId), of({ ...board, gameId }), ofNone("nobody")]) {
      const { status, body } = await service.call("GET", path);
      expect(status).toBe(404);
      expect(body.code).toBe("not_found");
    }
  });
});

describe("GET leaderboards", () => {
  test("200 with this game's boards alone, each with the six fields", async () => {
    const { status, body } = await list("");
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(["leaderboards", "nextCursor"]);
    expect(body.nextCursor).toBeNull();
    const listed = body.leaderboards.map((board: { name: string }) => board.name);
    expect(listed.sort()).toEqual([...names].sort());
    expect(Object.keys(body.leaderboards[0]).sort()).toEqual(
      ["id", "name", "displayName", "sortOrder", "displayType", "visible"].sort(),
    );
  });

  test.each([1, 2, 3, 6, 7, 8])(
    "200 in pages of %d: every board once, in the order of one page",
    async (limit) => {
      const whole = (await list("")).body.leaderboards;
      const seen: unknown[] = [];
      let cursor: string | null = null;
      let pages = 0;
      do {
        const query: string = cursor === null ? `?limit=${limit}` : `?limit=${limit}&cursor=${cursor}`;
        const { status, body } = await list(query);
        expect(status).toBe(200);
        expect(body.leaderboards.length).toBeLessThanOrEqual(limit);
        seen.push(...body.leaderboards);
        cursor = body.nextCursor;
        pages++;
      } while (cursor !== null);
      expect(seen).toEqual(whole);
      expect(pages).toBe(Math.ceil(names.length / limit));
    },
  );

  test("200 for a cursor whose board was renamed away: the list goes on", async () => {
    const own = await createGame(service);
    const boards = [];
    for (const name of ["a", "b", "c"]) boards.push(await createBoard(service, { gameId: own, name }));
    const path = `/api/games/${own}/leaderboards`;
    const first = await service.call("GET", `${path}?limit=2`);
    await service.call("POST", `${path}/${boards[1]?.id}/rename`, { body: { name: "z" } });
    const next = await service.call("GET", `${path}?limit=2&cursor=${first.body.nextCursor}`);
    expect(next.body.leaderboards.map((board: { name: string }) => board.name)).toEqual(["c", "z"]);
  });

  test("200 and an empty list for a game without boards", async () => {
    const { body } = await service.call("GET", `/api/games/${await createGame(service)}/leaderboards`);
    expect(body).toEqual({ leaderboards: [], nextCursor: null });
  });

  test.each([
    ["limit", "?limit=0"],
    ["limit", "?limit=201"],
    ["limit", "?limit=-1"],
    ["limit", "?limit=1.5"],
    ["limit", "?limit=many"],
    ["limit", "?limit="],
    ["limit", "?limit=1&limit=2"],
    ["cursor", "?cursor=%00"],
    ["cursor", "?cursor=!!!"],
    ["cursor", "?cursor=QQ"],
    ["cursor", "?cursor="],
    ["cursor", `?cursor=${"a".repeat(201)}`],
    ["cursor", "?cursor=a&cursor=b"],
  ])("400 naming %s for %s", async (field, query) => {
    const { status, body } = await list(query);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "invalid_input", field });
  });

  test("200 for limit=200", async () => {
    expect((await list("?limit=200")).status).toBe(200);
  });

  test("401, 403 and 404 as for one board", async () => {
    expect((await service.call("GET", `/api/games/${gameId}/leaderboards`, { token: null })).status).toBe(
      401,
    );
    expect((await list("", await createToken(service, gameId, "leaderboards:write"))).status).toBe(403);
    expect((await list("", await createToken(service, gameId, "leaderboards:read"))).status).toBe(200);
    expect((await service.call("GET", "/api/games/nobody/leaderboards")).status).toBe(404);
  });
});
