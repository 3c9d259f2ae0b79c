// PATCH a leaderboard: credential, then game, then body, then lookup. Every case runs on both addresses.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createGame, createPlayerToken, createToken } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { addresses, type Board, createBoard, stored, wire } from "./board.ts";

let service: TestService;
let board: Board;
let writer: string;
let stranger: string;
beforeAll(async () => {
  service = await startTestService();
  board = await createBoard(service);
  writer = await createToken(service, board.gameId, "leaderboards:write");
  stranger = await createToken(service, await createGame(service), "leaderboards:write");
});
afterAll(() => service.stop());

/** The answer as it came over the wire. */
async function send(path: string, token: string | null, body: string, type = "application/json") {
  const response = await fetch(service.url + path, {
    method: "PATCH",
    headers: { "content-type": type, ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
    body,
  });
  return { status: response.status, text: await response.text() };
}

const bodies: [what: string, body: string][] = [
  ["a good body", '{"visible":false}'],
  ["a bad value", '{"visible":"no"}'],
  ["no field", "{}"],
  ["broken JSON", "{"],
  ["too large a body", JSON.stringify({ displayName: "a".repeat(70_000) })],
];

describe.each(addresses)("PATCH by $by", ({ of, ofNone }) => {
  test.each(bodies)("401 without a credential, with %s", async (_what, body) => {
    for (const path of [of(board), ofNone(board.gameId), ofNone("nobody")]) {
      const answer = await send(path, null, body);
      expect(answer.status).toBe(401);
      expect(JSON.parse(answer.text).code).toBe("unauthorized");
    }
    expect(await stored(service, board)).toEqual(wire(board));
  });

  test.each(["", "Bearer", "Basic b3A6cHc=", "Bearer a b", "Token x"])(
    "401 for the Authorization header %j",
    async (authorization) => {
      const answer = await service.call("PATCH", of(board), {
        token: null,
        headers: { authorization },
        body: { visible: false },
      });
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/);
    },
  );

  test.each(bodies)(
    "403 for another game's token, with %s: whether the game or the board exists does not show",
    async (_what, body) => {
      const answers = await Promise.all(
        [of(board), ofNone(board.gameId), ofNone("nobody"), ofNone("%00")].map((path) =>
          send(path, stranger, body),
        ),
      );
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([403]));
      // Byte for byte the same.
      expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
      expect(JSON.parse(answers[0]?.text ?? "").code).toBe("forbidden");
      expect(await stored(service, board)).toEqual(wire(board));
    },
  );

  test.each(bodies)("403 without the scope, with %s", async (_what, body) => {
    const reader = await createToken(service, board.gameId, "leaderboards:read", "scores:write");
    for (const path of [of(board), ofNone(board.gameId)]) {
      const answer = await send(path, reader, body);
      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.text).error).toContain("leaderboards:write");
    }
    expect(await stored(service, board)).toEqual(wire(board));
  });

  test("403 for a player of this game and of another", async () => {
    for (const gameId of [board.gameId, await createGame(service)]) {
      const token = await createPlayerToken(service, gameId, "ann");
      expect((await send(of(board), token, '{"visible":false}')).status).toBe(403);
    }
    expect(await stored(service, board)).toEqual(wire(board));
  });

  test("400 for a bad body comes before 404 for a missing board or game", async () => {
    const missing: [string, string][] = [
      [ofNone(board.gameId), writer],
      [ofNone(board.gameId), service.operatorToken],
      [ofNone("nobody"), service.operatorToken],
    ];
    for (const [path, token] of missing) {
      for (const body of ['{"visible":"no"}', "{}", '{"name":"x"}', "{"]) {
        const answer = await send(path, token, body);
        expect(answer.status).toBe(400);
        expect(JSON.parse(answer.text).code).toBe("invalid_input");
      }
      expect((await send(path, token, '{"visible":false}')).status).toBe(404);
    }
  });

  test("404 when the board is missing, even with a changed name or id", async () => {
    for (const field of ["name", "id"]) {
      const answer = await send(
        ofNone(board.gameId),
        writer,
        JSON.stringify({ visible: false, [field]: "x" }),
      );
      expect(answer.status).toBe(404);
    }
  });

  test.each([
    ["no body", ""],
    ["white space", " \n"],
    ["broken JSON", '{"visible":'],
    ["half a string", '{"displayName":"x'],
    ["a comma too many", '{"visible":false,}'],
    ["single quotes", "{'visible':false}"],
    ["NaN", '{"sortOrder":NaN}'],
    ["an array", '[{"visible":false}]'],
    ["an empty array", "[]"],
    ["null", "null"],
    ["true", "true"],
    ["a number", "1"],
    ["text", '"visible"'],
    ["a form", "visible=false"],
  ])("400 for %s, and nothing changes", async (_what, body) => {
    const answer = await send(of(board), writer, body);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text).code).toBe("invalid_input");
    expect(await stored(service, board)).toEqual(wire(board));
  });

  test("400 when neither a body nor a content type is sent", async () => {
    const answer = await service.call("PATCH", of(board), { token: writer });
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe("invalid_input");
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "application/merge-patch+json", "nonsense"])(
    "415 for the content type %s",
    async (type) => {
      const answer = await send(of(board), writer, '{"visible":false}', type);
      expect(answer.status).toBe(415);
      expect(JSON.parse(answer.text).code).toBe("unsupported_media_type");
      expect(await stored(service, board)).toEqual(wire(board));
    },
  );

  test("200 for application/json with a charset, in any case", async () => {
    const own = await createBoard(service, { gameId: board.gameId });
    for (const type of ["application/json; charset=utf-8", "Application/JSON"]) {
      expect((await send(of(own), writer, '{"visible":false}', type)).status).toBe(200);
    }
  });

  test("413 for a body over 64 KiB, 400 for one just under it", async () => {
    const padded = (bytes: number) => {
      const frame = JSON.stringify({ visible: false, displayName: "" }).length;
      return JSON.stringify({ visible: false, displayName: "a".repeat(bytes - frame) });
    };
    const over = await send(of(board), writer, padded(64 * 1024 + 1));
    expect(over.status).toBe(413);
    expect(JSON.parse(over.text).code).toBe("payload_too_large");
    expect((await send(of(board), writer, padded(64 * 1024))).status).toBe(400);
    expect(await stored(service, board)).toEqual(wire(board));
  });
});
