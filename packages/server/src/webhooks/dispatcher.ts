// Sends what is due: claims deliveries endpoint by endpoint, attempts them, and writes down how it went.
import type { Env } from "@coinslot/contract";
import type { Clock } from "../clock.ts";
import type { Sql } from "../database/connect.ts";
import { groupCalls } from "../database/group-calls.ts";
import type { Ids } from "../ids.ts";
import type { Log } from "../log.ts";
import { createAttemptPartitions } from "./attempt-partitions.ts";
import {
  type ClaimedDelivery,
  cancelWithoutUrl,
  claimDeliveries,
  findDueEndpoints,
} from "./claim-deliveries.ts";
import { createEndpointCap, type EndpointCap } from "./endpoint-cap.ts";
import { createOutageDetector } from "./outage-detector.ts";
import { type AttemptResult, recordResults } from "./record-results.ts";
import { nextAttemptAtMs } from "./retry-schedule.ts";
import type { Attempt } from "./sending/attempt.ts";
import type { Sender } from "./sending/send-webhook.ts";

/** How often a process looks for due work that nobody has told it of. */
const pollMs = 500;
/** Longer than an attempt can take, its result included. After it another process may take over. */
const leaseMs = 30_000;
const inFlightMaxCount = 1_024;
/** While our own network is down: how often it is tried with one delivery, and how long the others wait. */
const probeMs = 5_000;
const retentionMs = 60 * 60 * 1000;

export interface DispatcherDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly sender: Pick<Sender, "send">;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
  readonly attemptsKeepDays: number;
}

export interface Dispatcher {
  /** There is something new for this endpoint; only a hint, the poll finds it anyway. */
  wake(gameId: string, env: Env): void;
  /** Takes nothing more, and waits until what is under way has ended and is written down. */
  stop(): Promise<void>;
}

interface Endpoint {
  readonly gameId: string;
  readonly env: Env;
  readonly cap: EndpointCap;
  inFlight: number;
  isClaiming: boolean;
  /** More may be due than there was room for. */
  isHungry: boolean;
}

export function startDispatcher(deps: DispatcherDeps): Dispatcher {
  const { sql, clock, log } = deps;
  const endpoints = new Map<string, Endpoint>();
  const partitions = createAttemptPartitions(sql);
  const outage = createOutageDetector(clock.nowMs);
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();
  let inFlight = 0;
  let probedAtMs = 0;
  let wasDown = false;

  const record = groupCalls<AttemptResult, undefined>({
    run: async (gameId, results) => {
      await recordResults(sql, gameId, results, new Date(clock.nowMs()));
      return results.map(() => undefined);
    },
    groupMaxCount: 200,
    runningMaxCount: 4,
    waitingMaxCount: 10_000,
  });

  const track = (work: Promise<void>): void => {
    underWay.add(work);
    void work.finally(() => underWay.delete(work));
  };

  const endpointOf = (gameId: string, env: Env): Endpoint => {
    const key = `${env} ${gameId}`;
    const known = endpoints.get(key);
    if (known !== undefined) return known;
    const made = { gameId, env, cap: createEndpointCap(), inFlight: 0, isClaiming: false, isHungry: false };
    endpoints.set(key, made);
    return made;
  };

  /** How many deliveries of the endpoint may be taken now. */
  const roomOf = (endpoint: Endpoint): number => {
    if (stopping.signal.aborted) return 0;
    if (outage.isDown()) return clock.nowMs() - probedAtMs < probeMs ? 0 : 1;
    return Math.min(endpoint.cap.current() - endpoint.inFlight, inFlightMaxCount - inFlight);
  };

  const pump = async (endpoint: Endpoint): Promise<void> => {
    if (endpoint.isClaiming) {
      endpoint.isHungry = true;
      return;
    }
    const maxCount = roomOf(endpoint);
    if (maxCount <= 0) {
      endpoint.isHungry = true;
      return;
    }
    endpoint.isClaiming = true;
    endpoint.isHungry = false;
    if (outage.isDown()) probedAtMs = clock.nowMs();
    try {
      const now = new Date(clock.nowMs());
      await partitions.ensure(now.getTime());
      const token = deps.ids("lease");
      const leaseUntil = new Date(now.getTime() + leaseMs);
      const { gameId, env } = endpoint;
      const claimed = await claimDeliveries(sql, { gameId, env, now, leaseUntil, token, maxCount });
      if (claimed.length === 0) await cancelWithoutUrl(sql, gameId, env);
      if (claimed.length === maxCount) endpoint.isHungry = true;
      for (const delivery of claimed) track(attempt(endpoint, delivery, now, token));
    } catch (error) {
      log.warn({ err: error }, "Could not claim deliveries");
    } finally {
      endpoint.isClaiming = false;
    }
    if (endpoint.isHungry && roomOf(endpoint) > 0) track(pump(endpoint));
  };

  const attempt = async (
    endpoint: Endpoint,
    delivery: ClaimedDelivery,
    startedAt: Date,
    token: string,
  ): Promise<void> => {
    endpoint.inFlight++;
    inFlight++;
    let ended: Attempt;
    try {
      ended = await deps.sender.send(delivery.url, delivery.receiptJwt);
    } finally {
      endpoint.inFlight--;
      inFlight--;
    }
    const failure = ended.failure?.code ?? null;
    outage.note(`${endpoint.env} ${endpoint.gameId}`, failure);
    if (failure === "timed_out") endpoint.cap.hung();
    else endpoint.cap.answered();
    sayWhetherDown();
    // A quarter of the room at a time: one statement for many, at full load.
    if (endpoint.isHungry && roomOf(endpoint) * 4 >= endpoint.cap.current()) track(pump(endpoint));
    const { id: deliveryId, number } = delivery;
    await keep(endpoint.gameId, {
      deliveryId,
      number,
      startedAt,
      token,
      attempt: ended,
      next: nextOf(delivery, ended),
    });
  };

  const nextOf = (delivery: ClaimedDelivery, ended: Attempt): AttemptResult["next"] => {
    if (ended.delivered) return { state: "DELIVERED", slot: delivery.slot, at: null };
    const nowMs = clock.nowMs();
    const isOurs = outage.isDown() || ended.failure?.code === "busy" || ended.failure?.code === "canceled";
    // What went wrong on our side uses up none of the receiver's nine attempts.
    if (isOurs) return { state: "PENDING", slot: delivery.slot, at: new Date(nowMs + probeMs) };
    const at = nextAttemptAtMs({
      startedAtMs: delivery.seriesStartedAt.getTime(),
      slot: delivery.slot,
      nowMs,
      retryAfterMs: ended.retryAfterMs,
      random: deps.random(),
    });
    if (at === null) return { state: "FAILED", slot: delivery.slot, at: null };
    return { state: "PENDING", slot: delivery.slot + 1, at: new Date(at) };
  };

  /** Tries until the lease is over; after that the delivery is somebody else's, and the attempt is logged as unknown. */
  const keep = async (gameId: string, result: AttemptResult): Promise<void> => {
    const untilMs = result.startedAt.getTime() + leaseMs;
    for (let tries = 1; ; tries++) {
      try {
        return await record(gameId, result);
      } catch (error) {
        if (tries === 1) log.warn({ err: error }, "Could not write down how an attempt ended; trying again");
        if (clock.nowMs() >= untilMs) {
          log.error(
            { err: error, deliveryId: result.deliveryId },
            "An attempt's outcome is lost: it will be repeated",
          );
          return;
        }
        await clock.sleep(250);
      }
    }
  };

  const sayWhetherDown = (): void => {
    const isDown = outage.isDown();
    if (isDown && !wasDown)
      log.error("Most webhook endpoints cannot be reached: our own network seems down. Deliveries wait.");
    if (!isDown && wasDown) log.warn("Webhook endpoints can be reached again. Deliveries go on.");
    wasDown = isDown;
  };

  const look = async (): Promise<void> => {
    let retainedAtMs = 0;
    while (!stopping.signal.aborted) {
      try {
        const nowMs = clock.nowMs();
        for (const { gameId, env } of await findDueEndpoints(sql, new Date(nowMs)))
          track(pump(endpointOf(gameId, env)));
        if (nowMs - retainedAtMs >= retentionMs) {
          retainedAtMs = nowMs;
          await partitions.dropOld(nowMs, deps.attemptsKeepDays);
          forgetIdle(endpoints);
        }
        sayWhetherDown();
      } catch (error) {
        log.warn({ err: error }, "Could not look for due deliveries");
      }
      await clock.sleep(pollMs, stopping.signal);
    }
  };
  const looking = look();

  return {
    wake: (gameId, env) => track(pump(endpointOf(gameId, env))),
    async stop() {
      stopping.abort();
      await looking;
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

/** What is known of an endpoint is only a speed: an idle one can be forgotten. */
function forgetIdle(endpoints: Map<string, Endpoint>): void {
  for (const [key, endpoint] of endpoints) {
    if (endpoint.inFlight === 0 && !endpoint.isClaiming) endpoints.delete(key);
  }
}
