// Dials the server of a data folder, and nobody else who may hold its port.
import { connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { isPostmasterOf, readPostmasterFile } from "./postmaster-file.ts";
import { processStart } from "./running-process.ts";

/** Gives a connected socket for the PostgreSQL client; one that fails at once when the server is not there. */
export type Dial = () => Promise<Duplex>;

export interface Listening {
  readonly port: number;
  /** Another one for every start of the server. */
  readonly identity: string;
}

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Whoever binds the port of a dead server could ask the client for its password. So the server must be seen running
 * before the connection is made and the same one after it: then nobody else can have listened on its port meanwhile.
 */
export function dialServer(
  data: string,
  look: () => Promise<Listening | undefined> = () => listeningServer(data),
): Dial {
  return async () => {
    try {
      return await dialChecked(data, look);
    } catch (error) {
      return failing(error instanceof Error ? error : new Error(String(error)));
    }
  };
}

async function dialChecked(data: string, look: () => Promise<Listening | undefined>): Promise<Socket> {
  const before = await look();
  if (before === undefined) throw notThere(data);
  const socket = await connected(before.port);
  const after = await look();
  const same = after?.port === before.port && after.identity === before.identity;
  // One that has closed by now would tell the client nothing any more.
  if (same && !socket.destroyed) return socket;
  socket.destroy();
  throw notThere(data);
}

/** "ready" is written once the server listens; the port alone is written before. */
async function listeningServer(data: string): Promise<Listening | undefined> {
  const file = await readPostmasterFile(data);
  if (!file?.ready || !(await isPostmasterOf(file.pid, data))) return undefined;
  return { port: file.port, identity: `${file.pid} ${await processStart(file.pid)}` };
}

function connected(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port });
    const giveUp = setTimeout(
      () => socket.destroy(outage("CONNECT_TIMEOUT", "PostgreSQL does not answer")),
      CONNECT_TIMEOUT_MS,
    );
    socket.once("error", reject);
    socket.once("connect", () => {
      clearTimeout(giveUp);
      socket.removeListener("error", reject);
      // Replaced by the client's own listeners; until then an error must not end the process.
      socket.on("error", () => undefined);
      resolve(socket);
    });
    socket.once("close", () => clearTimeout(giveUp));
  });
}

/** The client loses a place in its pool when this function throws, and none when the socket fails. */
function failing(error: Error): Duplex {
  const socket = new Duplex({
    read: () => undefined,
    // Not before the client has sent its greeting: one left unsent would go out on its next connection, in front of that
    // one's own.
    write: (_chunk, _encoding, done) => {
      socket.destroy(error);
      done();
    },
  });
  // A client that is being closed sends none.
  setTimeout(() => socket.destroy(error), 100).unref();
  return socket;
}

function notThere(data: string): Error {
  return outage("ECONNREFUSED", `No PostgreSQL runs on ${data}`);
}

function outage(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
