// Runs one attempt from the name lookup to the judgement, over a kept connection or a new one.
import { TLSSocket } from "node:tls";
import { type Attempt, finishedAttempt } from "./attempt.ts";
import type { AttemptClock } from "./attempt-clock.ts";
import type { WebhookRequest } from "./build-request.ts";
import { type Connection, createConnection } from "./connection.ts";
import type { ConnectionPool } from "./connection-pool.ts";
import { exchange, type Response } from "./exchange.ts";
import { explainError, explainTimeout } from "./explain-failure.ts";
import type { Failure } from "./failure.ts";
import { judgeResponse } from "./judge-response.ts";
import { type Connector, openPinned, type Progress } from "./pinned-connector.ts";

export interface AttemptTools {
  readonly connector: Connector;
  readonly pool: ConnectionPool;
  readonly nowMs: () => number;
}

interface Outcome {
  readonly response: Response | null;
  readonly failure: Failure | null;
}

interface FullProgress extends Progress {
  firstByteMs: number | null;
}

export const canceled: Failure = { code: "canceled", sentence: "the attempt was canceled" };

export async function runAttempt(
  tools: AttemptTools,
  request: WebhookRequest,
  clock: AttemptClock,
): Promise<Attempt> {
  const startedMs = tools.nowMs();
  const progress: FullProgress = {
    phase: "looking up the name",
    lookupMs: null,
    connectMs: null,
    tlsMs: null,
    firstByteMs: null,
  };
  const { response, failure } = await reach(tools, request, clock, progress).catch(
    // A fault of ours or of a library must not look like a delivery, nor take the dispatcher down.
    (error: unknown): Outcome => ({ response: null, failure: explainError(error, progress.phase) }),
  );
  const { lookupMs, connectMs, tlsMs, firstByteMs } = progress;
  const timings = { lookupMs, connectMs, tlsMs, firstByteMs, totalMs: tools.nowMs() - startedMs };
  return finishedAttempt(request.headers, failure, response, timings);
}

async function reach(
  tools: AttemptTools,
  request: WebhookRequest,
  clock: AttemptClock,
  progress: FullProgress,
): Promise<Outcome> {
  const kept = tools.pool.take(request.target.origin);
  if (kept !== null) {
    const outcome = await ask(tools, kept, request, clock, progress);
    // The receiver had closed it, or was about to: says nothing about the receiver, so it gets a fresh one.
    if (outcome !== "stale") return outcome;
  }
  const opened = await openPinned(tools.connector, request.target, progress, clock);
  if (!(opened instanceof TLSSocket)) {
    return { response: null, failure: givenUp(clock, progress) ?? opened };
  }
  const connection = createConnection(request.target.origin, opened, tools.nowMs());
  const outcome = await ask(tools, connection, request, clock, progress);
  return outcome === "stale" ? { response: null, failure: explainError(null, progress.phase) } : outcome;
}

async function ask(
  { pool, nowMs }: AttemptTools,
  connection: Connection,
  request: WebhookRequest,
  clock: AttemptClock,
  progress: FullProgress,
): Promise<Outcome | "stale"> {
  const sentMs = nowMs();
  const isReused = connection.requestCount > 0;
  connection.requestCount += 1;
  progress.phase = "waiting for the response headers";
  const exchanged = await exchange(connection, request, clock, nowMs);
  const { response, headersAtMs, error, reusable, unsentBytes, anyByteCame } = exchanged;
  if (headersAtMs !== null) progress.firstByteMs = headersAtMs - sentMs;
  if (reusable) pool.give(connection);
  if (response !== null) return { response, failure: judgeResponse(response.status, response.headers) };
  if (unsentBytes > 0) progress.phase = "sending the request";
  const failure = givenUp(clock, progress);
  if (failure === null && isReused && !anyByteCame) return "stale";
  return { response: null, failure: failure ?? explainError(error, progress.phase) };
}

function givenUp({ ended }: AttemptClock, { phase }: Progress): Failure | null {
  if (ended === null) return null;
  return ended === "canceled" ? canceled : explainTimeout(phase);
}
