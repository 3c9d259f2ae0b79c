// Sends the events feed as server-sent events for as long as the reader stays.
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Env } from "@coinslot/contract";
import type { Clock } from "../clock.ts";
import type { Sql } from "../database/connect.ts";
import { readEvents, showEvent } from "./event-row.ts";
import type { EventSignal } from "./event-signal.ts";

/** How often a reader looks when no event of this process has woken it: other processes write events too. */
const pollMs = 1_000;
/** A comment that keeps proxies from closing a quiet stream, and the moment to ask whether the credential holds. */
const heartbeatMs = 15_000;
/** How old the answer to that may be when an event is sent. */
const recheckMs = 1_000;
/** How long a reader may take nothing in before its place goes to another. */
const drainMs = 30_000;
const pageCount = 100;

/** The reader is connected and takes nothing in. */
export class StalledReader extends Error {}

export interface StreamInput {
  readonly gameId: string;
  readonly position: string;
  readonly env: Env | undefined;
  readonly recheck: () => Promise<void>;
  /** Aborts when the service stops or the reader has gone. */
  readonly signal: AbortSignal;
}

export async function streamEvents(
  deps: { sql: Sql; clock: Clock; events: EventSignal },
  out: ServerResponse,
  input: StreamInput,
): Promise<void> {
  const write = async (text: string): Promise<void> => {
    // A slow reader is waited for: nothing piles up in memory.
    if (!out.write(text)) await waitForDrain(deps.clock, out, input.signal);
  };
  let { position } = input;
  let heardAtMs = deps.clock.nowMs();
  let checkedAtMs = heardAtMs;
  const recheck = async (): Promise<void> => {
    checkedAtMs = deps.clock.nowMs();
    await input.recheck();
  };
  await write(": connected\n\n");
  while (!input.signal.aborted) {
    const rows = await readEvents(deps.sql, input.gameId, { position, env: input.env, limit: pageCount });
    for (const row of rows) {
      // Before each one and not before the page: with a slow reader a page takes a while.
      if (deps.clock.nowMs() - checkedAtMs > recheckMs) await recheck();
      await write(`id: ${row.id}\nevent: ${row.event}\ndata: ${JSON.stringify(showEvent(row))}\n\n`);
      position = row.position;
    }
    if (deps.clock.nowMs() - heardAtMs >= heartbeatMs) {
      await recheck();
      await write(": still here\n\n");
      heardAtMs = deps.clock.nowMs();
    }
    if (rows.length < pageCount) await deps.events.wait(input.gameId, pollMs, input.signal);
  }
}

async function waitForDrain(clock: Clock, out: ServerResponse, signal: AbortSignal): Promise<void> {
  const done = new AbortController();
  const late = new AbortController();
  void clock.sleep(drainMs, AbortSignal.any([signal, done.signal])).then(() => late.abort());
  try {
    await once(out, "drain", { signal: AbortSignal.any([signal, late.signal]) });
  } catch (error) {
    throw late.signal.aborted && !signal.aborted ? new StalledReader() : error;
  } finally {
    done.abort();
  }
}
