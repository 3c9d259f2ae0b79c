// PATCH a leaderboard: what changes, what is refused. Every case runs on both addresses.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createGame, createToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { addresses, type Board, createBoard, stored, wire } from "./board.ts";

let service: TestService;
let gameId: string;
/** The board that no refused update may change. */
let untouched: Board;
beforeAll(async () => {
  service = await startTestService();
  gameId = await createGame(service);
  untouched = await createBoard(service, { gameId });
});
afterAll(() => service.stop());

const longest = "😀".repeat(200);

const accepted: [what: string, body: object, changes: object][] = [
  ["visible false", { visible: false }, { visible: false }],
  ["visible true", { visible: true }, { visible: true }],
  ["displayName", { displayName: "Fastest laps" }, { displayName: "Fastest laps" }],
  ["displayName of 1 character", { displayName: "x" }, { displayName: "x" }],
  ["displayName of 1 space", { displayName: " " }, { displayName: " " }],
  ["displayName of 200 letters", { displayName: "a".repeat(200) }, { displayName: "a".repeat(200) }],
  ["displayName of 200 emoji", { displayName: longest }, { displayName: longest }],
  ["displayName with quotes and marks", { displayName: '\'; --\n\t"é"' }, { displayName: '\'; --\n\t"é"' }],
  ["sortOrder 0", { sortOrder: 0 }, { sortOrder: 0 }],
  ["sortOrder 1", { sortOrder: 1 }, { sortOrder: 1 }],
  ["displayType 0", { displayType: 0 }, { displayType: 0 }],
  ["displayType 1", { displayType: 1 }, { displayType: 1 }],
  ["displayType 2", { displayType: 2 }, { displayType: 2 }],
  ["displayType 3", { displayType: 3 }, { displayType: 3 }],
  [
    "all four",
    { visible: false, displayName: "All", sortOrder: 1, displayType: 3 },
    { visible: false, displayName: "All", sortOrder: 1, displayType: 3 },
  ],
  ["unknown fields, which are ignored", { sortOrder: 1, colour: "red", gameId: "x" }, { sortOrder: 1 }],
];

/** The value and the field that the answer must name. */
const refused: [field: string, value: unknown][] = [
  ...["true", "false", 1, 0, null, "", [], {}].map((value): [string, unknown] => ["visible", value]),
  ...["", "a".repeat(201), "😀".repeat(201), "a\u0000b", "\ud800", null, 7, true, ["x"], {}].map(
    (value): [string, unknown] => ["displayName", value],
  ),
  ...["0", "1", 1.5, 0.5, -1, 2, null, true, "", [], {}, [1]].map((value): [string, unknown] => [
    "sortOrder",
    value,
  ]),
  ...["0", "3", 1.5, -1, 4, 2_147_483_648, 1e300, null, false, "", [], {}].map((value): [string, unknown] => [
    "displayType",
    value,
  ]),
  ...[null, 1, true, ["x"]].map((value): [string, unknown] => ["id", value]),
  ...[null, 1, true, {}].map((value): [string, unknown] => ["name", value]),
];

const empty: [what: string, body: unknown][] = [
  ["no field", {}],
  ["only unknown fields", { colour: "red", Visible: true, display_name: "x" }],
];

describe.each(addresses)("PATCH by $by", ({ of, ofNone }) => {
  test.each(accepted)("200 for %s, and nothing else changes", async (_what, body, changes) => {
    const board = await createBoard(service, { gameId });
    const answer = await service.call("PATCH", of(board), { body });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    // One key, with exactly the six fields.
    expect(answer.body).toStrictEqual({ leaderboard: { ...wire(board), ...changes } });
    expect(await stored(service, board)).toEqual({ ...wire(board), ...changes });
  });

  test("200 keeps what earlier updates changed", async () => {
    const board = await createBoard(service, { gameId });
    const steps = [{ visible: false }, { sortOrder: 1 }, { displayType: 2 }, { displayName: "Last" }];
    for (const body of steps) await service.call("PATCH", of(board), { body });
    expect(await stored(service, board)).toEqual({ ...wire(board), ...Object.assign({}, ...steps) });
  });

  test("200 for a number spelled 1.0 or 10e-1: it is the integer 1", async () => {
    const board = await createBoard(service, { gameId });
    for (const spelling of ["1.0", "10e-1"]) {
      await service.call("PATCH", of(board), { body: { displayType: 0 } });
      const answer = await service.call("PATCH", of(board), { raw: `{"displayType": ${spelling}}` });
      expect(answer.body.leaderboard.displayType).toBe(1);
    }
  });

  test("200 with an access token that may write", async () => {
    const board = await createBoard(service, { gameId });
    const token = await createToken(service, board.gameId, "leaderboards:write");
    const answer = await service.call("PATCH", of(board), { token, body: { displayType: 3 } });
    expect(answer.status).toBe(200);
    expect(answer.body.leaderboard.displayType).toBe(3);
  });

  test("200 when the whole object is written back with an edit", async () => {
    const board = await createBoard(service, { gameId });
    const { body: read } = await service.call("GET", of(board));
    const body = { ...read.leaderboard, displayName: "Edited" };
    const answer = await service.call("PATCH", of(board), { body });
    expect(answer.status).toBe(200);
    expect(answer.body).toStrictEqual({ leaderboard: { ...wire(board), displayName: "Edited" } });
  });

  test.each(refused)("400 when %s is %j, and nothing changes", async (field, value) => {
    const board = untouched;
    const body = { visible: false, sortOrder: 1, displayType: 3, displayName: "New", [field]: value };
    const answer = await service.call("PATCH", of(board), { body });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: "invalid_input", field });
    expect(await stored(service, board)).toEqual(wire(board));
  });

  test.each(empty)("400 for a body with %s", async (_what, body) => {
    const board = untouched;
    const answer = await service.call("PATCH", of(board), { body });
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe("invalid_input");
    expect(answer.body.error).toContain("displayName");
    expect(await stored(service, board)).toEqual(wire(board));
  });

  test("400 when only an unchanged id or name is sent: no field changes anything", async () => {
    const board = untouched;
    for (const body of [{ id: board.id }, { name: board.name }, { id: board.id, name: board.name }]) {
      const answer = await service.call("PATCH", of(board), { body });
      expect(answer.status).toBe(400);
      expect(answer.body.code).toBe("invalid_input");
    }
  });

  test.each(["", "other", "High Scores", "x\u0000", "\ud800"])(
    "400 when the name is changed to %j: the answer says where to rename, and nothing changes",
    async (name) => {
      const board = untouched;
      for (const body of [{ visible: false, name }, { name }]) {
        const answer = await service.call("PATCH", of(board), { body });
        expect(answer.status).toBe(400);
        expect(answer.body).toMatchObject({ code: "invalid_input", field: "name" });
        expect(answer.body.error).toMatch(/portal/);
        expect(answer.body.error).toMatch(/\/rename/);
      }
      expect(await stored(service, board)).toEqual(wire(board));
    },
  );

  test.each(["", "lb_other", "x\u0000", "\ud800"])("400 when the id is changed to %j", async (id) => {
    const board = untouched;
    const answer = await service.call("PATCH", of(board), { body: { visible: false, id } });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: "invalid_input", field: "id" });
    expect(await stored(service, board)).toEqual(wire(board));
  });

  test("400 when the id or name is another board's, and neither board changes", async () => {
    const board = await createBoard(service, { gameId });
    const other = await createBoard(service, { gameId: board.gameId });
    for (const field of ["id", "name"] as const) {
      const answer = await service.call("PATCH", of(board), {
        body: { visible: false, [field]: other[field] },
      });
      expect(answer.body).toMatchObject({ code: "invalid_input", field });
    }
    expect(await stored(service, board)).toEqual(wire(board));
    expect(await stored(service, other)).toEqual(wire(other));
  });

  test("404 for a board that does not exist", async () => {
    const answer = await service.call("PATCH", ofNone(gameId), { body: { visible: false } });
    expect(answer.status).toBe(404);
    expect(answer.body.code).toBe("not_found");
    expect(answer.body).not.toHaveProperty("status");
  });

  test("404 for another game's board, which stays as it is", async () => {
    const mine = await createBoard(service, { gameId });
    const other = await createBoard(service);
    const crossed = of({ ...other, gameId: mine.gameId });
    expect((await service.call("PATCH", crossed, { body: { visible: false } })).status).toBe(404);
    expect(await stored(service, other)).toEqual(wire(other));
  });

  test("404 for the operator when the game does not exist", async () => {
    const answer = await service.call("PATCH", ofNone("nobody"), { body: { visible: false } });
    expect(answer.status).toBe(404);
  });
});
