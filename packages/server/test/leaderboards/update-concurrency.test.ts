// PATCH a leaderboard from many sides at once: each field keeps its last write, and no write is lost.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../support/test-service.ts";
import { addresses, createBoard, stored, wire } from "./board.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

describe.each(addresses)("PATCH by $by", ({ of }) => {
  test("updates of different fields at once all take effect", async () => {
    const board = await createBoard(service);
    const rounds = [
      { visible: false, displayName: "One", sortOrder: 1, displayType: 1 },
      { visible: true, displayName: "Two", sortOrder: 0, displayType: 2 },
      { visible: false, displayName: "Three", sortOrder: 1, displayType: 3 },
    ];
    for (const goal of rounds) {
      const answers = await Promise.all(
        Object.entries(goal).map(([field, value]) =>
          service.call("PATCH", of(board), { body: { [field]: value } }),
        ),
      );
      expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
      expect(await stored(service, board)).toEqual({ ...wire(board), ...goal });
    }
  });

  test("updates of one field at once: each answer shows its own value, and one of them stays", async () => {
    const board = await createBoard(service);
    const names = Array.from({ length: 30 }, (_, number) => `Name ${number}`);
    const answers = await Promise.all(
      names.map((displayName) => service.call("PATCH", of(board), { body: { displayName } })),
    );
    expect(answers.map((answer) => answer.body.leaderboard.displayName)).toEqual(names);
    expect(names).toContain((await stored(service, board))?.displayName);
  });

  test("fields sent together stay together, whoever comes last", async () => {
    const board = await createBoard(service);
    await Promise.all(
      Array.from({ length: 30 }, (_, number) =>
        service.call("PATCH", of(board), {
          body: { displayName: `Pair ${number % 4}`, displayType: number % 4 },
        }),
      ),
    );
    const after = await stored(service, board);
    expect(after?.displayName).toBe(`Pair ${after?.displayType}`);
  });

  test("an update that waits for another keeps the other's fields", async () => {
    const board = await createBoard(service);
    let waiting: Promise<{ status: number; body: unknown }> | undefined;
    await service.database.sql.begin(async (tx) => {
      // Another writer holds the row, with a change of its own that is not committed yet.
      await tx`UPDATE leaderboards SET visible = false, display_type = 2
        WHERE game_id = ${board.gameId} AND id = ${board.id}`;
      waiting = service.call("PATCH", of(board), { body: { displayType: 3 } });
      const held = "still waiting";
      const timeout = new Promise((resolve) => setTimeout(resolve, 200, held));
      expect(await Promise.race([waiting, timeout])).toBe(held);
    });
    const answer = await waiting;
    expect(answer?.body).toEqual({ leaderboard: { ...wire(board), visible: false, displayType: 3 } });
  });

  test("a rename that commits meanwhile is never undone, and its board is never half changed", async () => {
    const board = await createBoard(service);
    const body = { ...wire(board), visible: false, displayName: "Edited" };
    const rename = `/api/games/${board.gameId}/leaderboards/${board.id}/rename`;
    const newName = `${board.name}-renamed`;
    const [update, renamed] = await Promise.all([
      service.call("PATCH", of(board), { body }),
      service.call("POST", rename, { body: { name: newName } }),
    ]);
    expect(renamed.status).toBe(200);
    expect([200, 400, 404]).toContain(update.status);
    const edits = update.status === 200 ? { visible: false, displayName: "Edited" } : {};
    expect(await stored(service, board)).toEqual({ ...wire(board), name: newName, ...edits });
  });
});
