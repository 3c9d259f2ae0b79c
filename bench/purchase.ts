// Benchmark: recording purchases, ours beside a bare handler and beside signing alone.
import { startChild } from "./child.ts";
import { postRequest } from "./http-request.ts";
import { describeMachine, type Report, rateRatio } from "./report.ts";
import { runRounds, type Side } from "./rounds.ts";
import { contentIdentifier, seedGames, seedKeys } from "./seed.ts";
import { startLoad, startService } from "./service-side.ts";
import { type BenchTools, openSetting } from "./setting.ts";
import type { SignInput } from "./sign-alone.ts";

const connections = 64;
const turnMs = 2_500;
const rounds = 5;
const ratioMin = 0.6;
const buyers = 1_000;

export async function benchPurchase(tools: BenchTools): Promise<Report> {
  const setting = await openSetting(tools);
  await seedKeys(setting);
  // A game each: the bare handler counts positions on its own.
  const gameIds = ["ours", "bare"];
  await seedGames(setting, gameIds);
  const load = await startLoad(tools, setting);
  for (const gameId of gameIds) {
    await load.keep(
      gameId,
      Array.from({ length: buyers }, (_, index) =>
        postRequest(
          `/api/games/${gameId}/purchases`,
          { userId: `player-${index}`, contentIdentifier, env: "PRODUCTION" },
          { authorization: `Bearer ${setting.operatorToken}` },
        ),
      ),
    );
  }

  const [ours, bare, signer] = await Promise.all([
    startService(tools, setting, "serve-ours.ts"),
    startService(tools, setting, "serve-bare.ts"),
    startChild(tools, setting, "sign-alone.ts"),
  ]);
  const signAlone: Side = {
    name: "signing alone",
    measure: async () => {
      const input: SignInput = { concurrent: connections, forMs: turnMs };
      const { perSecond } = await signer.ask<{ perSecond: number }>("sign", input);
      return { perSecond, p50Ms: null, p99Ms: null, cpuUsPerRequest: null };
    },
  };
  const send = { connections, cycleForMs: turnMs, expect: { status: 201, body: '"state":"COMPLETED"' } };
  const sides = await runRounds(
    [
      load.side("ours", ours, { ...send, list: "ours" }),
      load.side("bare handler", bare, { ...send, list: "bare" }),
      signAlone,
    ],
    { warmUps: 1, rounds, measureMaxMs: 45_000, onTurn: (turn) => tools.progress.show("Measuring", turn) },
  );

  const [oursResult, bareResult, signResult] = sides;
  if (oursResult === undefined || bareResult === undefined || signResult === undefined)
    throw new Error("A side is missing.");
  return {
    title: `Record a purchase: POST /api/games/{gameId}/purchases at ${connections} connections, one game`,
    method: `${oursResult.rounds.length} rounds in turns of ${turnMs / 1000} s each; medians of the rounds`,
    machine: describeMachine(setting.database),
    sides,
    ratios: [rateRatio(oursResult, signResult, ratioMin), rateRatio(oursResult, bareResult, null)],
  };
}
