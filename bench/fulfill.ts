// Benchmark: fulfilling purchases with receipts, ours beside a bare handler.
import { readConfig } from "../packages/server/src/config.ts";
import { postRequest } from "./http-request.ts";
import { describeMachine, p99Bar, type Report, rateRatio } from "./report.ts";
import { runRounds } from "./rounds.ts";
import { seedGames, seedKeys, seedPurchases } from "./seed.ts";
import { startLoad, startService } from "./service-side.ts";
import { type BenchTools, openSetting, type Setting } from "./setting.ts";

const connections = 64;
const purchasesPerTurn = 3_000;
const rounds = 11;
const ratioMin = 0.85;
const p99MaxMs = 30;
const spreads = [
  { list: "one game", games: 1 },
  { list: "16 games", games: 16 },
];

export async function benchFulfill(tools: BenchTools): Promise<Report> {
  const { progress } = tools;
  const setting = await openSetting(tools);
  const { authUrl } = readConfig(setting.environment, { logLevel: "info" });
  await seedKeys(setting);
  const load = await startLoad(tools, setting);

  const games = spreads.map(({ list, games }) =>
    Array.from({ length: games }, (_, index) => `${list.replace(" ", "-")}-${index}`),
  );
  await seedGames(setting, games.flat());
  let signed = 0;
  for (const [index, { list }] of spreads.entries()) {
    const purchases = await seedPurchases(setting, {
      gameIds: games[index] ?? [],
      count: purchasesPerTurn,
      authUrl,
      onSigned: () => {
        if (++signed % 100 === 0)
          progress.show("Signing receipts", `${signed} of ${purchasesPerTurn * spreads.length}`);
      },
    });
    await load.keep(
      list,
      purchases.map(({ purchaseId, receiptJwt }) =>
        postRequest(`/api/purchases/${purchaseId}/fulfill`, { receiptJwt }),
      ),
    );
  }

  const [ours, bare] = await Promise.all([
    startService(tools, setting, "serve-ours.ts"),
    startService(tools, setting, "serve-bare.ts"),
  ]);
  const send = { connections, cycleForMs: null, expect: { status: 200, body: '{"status":"FULFILLED"}' } };
  const sides = await runRounds(
    [
      load.side("ours, one game", ours, { ...send, list: "one game" }),
      load.side("ours, 16 games", ours, { ...send, list: "16 games" }),
      load.side("bare handler", bare, { ...send, list: "one game" }),
    ],
    {
      warmUps: 2,
      rounds,
      measureMaxMs: 45_000,
      prepare: () => unfulfill(setting),
      onTurn: (turn) => progress.show("Measuring", turn),
    },
  );

  const [oneGame, manyGames, bareHandler] = sides;
  if (oneGame === undefined || manyGames === undefined || bareHandler === undefined)
    throw new Error("A side is missing.");
  return {
    title: `Fulfil: POST /api/purchases/{purchaseId}/fulfill at ${connections} connections`,
    method: `${oneGame.rounds.length} rounds in turns, each the first fulfil of ${purchasesPerTurn.toLocaleString("en")} purchases; medians of the rounds`,
    machine: describeMachine(setting.database),
    sides,
    ratios: [
      rateRatio(oneGame, bareHandler, ratioMin),
      rateRatio(manyGames, bareHandler, ratioMin),
      p99Bar(oneGame, p99MaxMs),
      p99Bar(manyGames, p99MaxMs),
    ],
  };
}

/** Makes every fulfil of the next turn a first one, on a table without dead rows. */
async function unfulfill({ sql }: Setting): Promise<void> {
  await sql`
    UPDATE purchases SET state = 'COMPLETED', fulfilled_at = NULL, fulfilled_by = NULL WHERE state = 'FULFILLED'`;
  await sql.unsafe("VACUUM (ANALYZE) purchases");
}
