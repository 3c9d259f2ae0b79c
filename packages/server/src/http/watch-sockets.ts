// Keeps an eye on the connections: which of them wait for an answer, and which do not take theirs.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type Clock, systemClock } from "../clock.ts";

export interface SocketWatch {
  /** Whether what is written to the socket now would be read as the answer to a request that can be answered. */
  owesAnswer(socket: Socket): boolean;
}

interface WatchOptions {
  readonly clock?: Pick<Clock, "nowMs">;
  /** How long an answer may wait, complete, for its client to read it. */
  readonly stallMs?: number;
  readonly sweepMs?: number;
}

/** Answers that are still to be written out, by socket, with the time at which each was first seen complete. */
type Owed = Map<Socket, Map<ServerResponse, number | null>>;

/** The server is watched for as long as it lives. */
export function watchSockets(server: Server, options: WatchOptions = {}): SocketWatch {
  const { clock = systemClock, stallMs = 30_000, sweepMs = 5_000 } = options;
  const owed: Owed = new Map();

  // In front of the handler, which may answer before it returns.
  server.prependListener("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    const answers = owed.get(socket) ?? new Map<ServerResponse, number | null>();
    owed.set(socket, answers.set(response, null));
    response.once("close", () => {
      answers.delete(response);
      if (answers.size === 0) owed.delete(socket);
    });
  });
  // An answer in line behind another one never hears of the end of its socket.
  server.on("connection", (socket: Socket) => socket.once("close", () => owed.delete(socket)));

  const sweep = setInterval(() => destroyStalled(owed, clock.nowMs(), stallMs), sweepMs);
  // Neither does a sweep keep the process alive, nor is it of use when there is nobody left to watch.
  sweep.unref();
  server.once("close", () => clearInterval(sweep));

  return {
    owesAnswer(socket) {
      const answers = [...(owed.get(socket)?.keys() ?? [])];
      const [only] = answers;
      if (only === undefined) return false;
      // What is broken is the body of this very request: nothing has been done with it yet.
      return answers.length > 1 || only.req.complete || only.headersSent;
    },
  };
}

/** A stream is not complete, so it is left alone: it looks after its own reader. */
function destroyStalled(owed: Owed, nowMs: number, stallMs: number): void {
  for (const [socket, answers] of owed) {
    for (const [response, completeAtMs] of answers) {
      if (!response.writableEnded) continue;
      if (completeAtMs === null) answers.set(response, nowMs);
      else if (nowMs - completeAtMs >= stallMs) socket.destroy();
    }
  }
}
