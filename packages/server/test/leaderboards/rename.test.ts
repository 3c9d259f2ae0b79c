// POST .../leaderboards/{id}/rename: the one way to another name.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createGame, createPlayerToken, createToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { addresses, type Board, createBoard, stored, wire } from "./board.ts";

let service: TestService;
let gameId: string;
beforeAll(async () => {
  service = await startTestService();
  gameId = await createGame(service);
});
afterAll(() => service.stop());

const rename = (board: Pick<Board, "gameId" | "id">, name: unknown, token?: string) =>
  service.call("POST", `/api/games/${board.gameId}/leaderboards/${board.id}/rename`, {
    body: { name },
    ...(token === undefined ? {} : { token }),
  });
const [byName] = addresses;

describe("POST rename", () => {
  test("200 changes the name alone, to its normalised form", async () => {
    const board = await createBoard(service, { gameId });
    const { status, body } = await rename(board, "Brand New (2)");
    expect(status).toBe(200);
    expect(body).toStrictEqual({ leaderboard: { ...wire(board), name: "brand_new_2" } });
    expect(await stored(service, board)).toEqual({ ...wire(board), name: "brand_new_2" });
  });

  test("404 at the old name afterwards, 200 at the new one, and the old name is free", async () => {
    const board = await createBoard(service, { gameId, name: "before" });
    await rename(board, "after");
    const patch = { body: { displayType: 3 } };
    expect((await service.call("GET", byName.of(board))).status).toBe(404);
    expect((await service.call("PATCH", byName.of(board), patch)).status).toBe(404);
    const moved = byName.of({ ...board, name: "after" });
    expect((await service.call("PATCH", moved, patch)).body.leaderboard.id).toBe(board.id);
    const next = await createBoard(service, { gameId, name: "before" });
    expect((await service.call("GET", byName.of(next))).body.leaderboard.id).toBe(next.id);
  });

  test("200 for the name it has already, in any spelling", async () => {
    const board = await createBoard(service, { gameId, name: "same name" });
    const { status, body } = await rename(board, "SAME NAME!");
    expect(status).toBe(200);
    expect(body.leaderboard.name).toBe("same_name");
  });

  test("200 for a name that another game has", async () => {
    const other = await createBoard(service);
    const board = await createBoard(service, { gameId });
    expect((await rename(board, other.name)).status).toBe(200);
  });

  test("409 for another board's name, and neither changes", async () => {
    const board = await createBoard(service, { gameId });
    const other = await createBoard(service, { gameId, name: "occupied" });
    const { status, body } = await rename(board, "Occupied");
    expect(status).toBe(409);
    expect(body).toMatchObject({ code: "conflict", field: "name" });
    expect(await stored(service, board)).toEqual(wire(board));
    expect(await stored(service, other)).toEqual(wire(other));
  });

  test("409 for all but one of many boards that want one name at once", async () => {
    const boards = [];
    for (let i = 0; i < 6; i++) boards.push(await createBoard(service, { gameId }));
    const answers = await Promise.all(boards.map((board) => rename(board, "wanted")));
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
  });

  test.each(["", "!!!", "日本", "a".repeat(101), "a\u0000", null, 1, undefined])(
    "400 for the name %j",
    async (name) => {
      const board = await createBoard(service, { gameId });
      const { status, body } = await rename(board, name);
      expect(status).toBe(400);
      expect(body).toMatchObject({ code: "invalid_input", field: "name" });
      expect(await stored(service, board)).toEqual(wire(board));
    },
  );

  test("403 for an access token with every scope, and for a player", async () => {
    const board = await createBoard(service, { gameId });
    const scopes = ["leaderboards:read", "leaderboards:write", "scores:write", "catalog:write"];
    const more = ["purchases:read", "webhooks:read", "webhooks:write"];
    const token = await createToken(service, gameId, ...scopes, ...more);
    expect((await rename(board, "never", token)).status).toBe(403);
    expect((await rename(board, "never", await createPlayerToken(service, gameId, "ann"))).status).toBe(403);
    expect(await stored(service, board)).toEqual(wire(board));
  });

  test("404 for a missing board, another game's board and a missing game", async () => {
    const other = await createBoard(service);
    for (const target of [
      { gameId, id: "lb_none" },
      { gameId, id: other.id },
      { gameId: "nobody", id: other.id },
    ]) {
      const { status, body } = await rename(target, "never");
      expect(status).toBe(404);
      expect(body.code).toBe("not_found");
    }
    expect(await stored(service, other)).toEqual(wire(other));
  });
});
