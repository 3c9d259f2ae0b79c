// PATCH by name: how the name in the address finds its board.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createGame } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createBoard } from "./board.ts";

let service: TestService;
let gameId: string;
let id: string;
beforeAll(async () => {
  service = await startTestService();
  gameId = await createGame(service);
  ({ id } = await createBoard(service, { gameId, name: "High Scores" }));
  await createBoard(service, { gameId, name: "highscores" });
});
afterAll(() => service.stop());

const patch = (name: string) =>
  service.call("PATCH", `/api/games/${gameId}/leaderboards/by-name/${name}`, { body: { displayType: 1 } });

describe("PATCH by name", () => {
  test.each([
    "high_scores",
    "High%20Scores",
    "HIGH_SCORES",
    "high%20%20%09scores",
    "High%C2%A0Scores",
    "%E3%80%8CHigh%20Scores%E3%80%8D",
    "high%20scores!",
    "h.i.g.h%20scores",
    "high%2F%20scores",
    "high%25%20scores",
    "high%00_scores",
    "high%E2%80%8B_scores",
    "%F0%9F%8F%86high_scores",
  ])("200: %s finds high_scores", async (name) => {
    const { status, body } = await patch(name);
    expect(status).toBe(200);
    expect(body.leaderboard).toMatchObject({ id, name: "high_scores" });
  });

  test.each(["highscores", "High%2BScores"])("200: %s finds highscores, another board", async (name) => {
    const { status, body } = await patch(name);
    expect(status).toBe(200);
    expect(body.leaderboard.name).toBe("highscores");
  });

  test.each(["high-scores", "high__scores", "%20high_scores", "high_scores%20", "high%20_scores"])(
    "404: %s is the name of no board",
    async (name) => {
      const { status, body } = await patch(name);
      expect(status).toBe(404);
      expect(body.code).toBe("not_found");
    },
  );

  test.each(["!!!", "%00", "%E6%97%A5%E6%9C%AC", "%F0%9F%8F%86", "."])(
    "404 when the name normalises to nothing: %s",
    async (name) => {
      const { status, body } = await patch(name);
      expect(status).toBe(404);
      expect(body.code).toBe("not_found");
    },
  );

  test("404 when the id stands where the name belongs, and the other way round", async () => {
    expect((await patch(id)).status).toBe(404);
    const asId = `/api/games/${gameId}/leaderboards/high_scores`;
    expect((await service.call("PATCH", asId, { body: { displayType: 1 } })).status).toBe(404);
  });

  test("400 for an address that is not well-formed", async () => {
    const { status, body } = await patch("%ZZ");
    expect(status).toBe(400);
    expect(body.code).toBe("invalid_input");
  });

  test.each([100, 101, 1_024])("404 for a name of %d characters that no board has", async (length) => {
    expect((await patch("a".repeat(length))).status).toBe(404);
  });
});
