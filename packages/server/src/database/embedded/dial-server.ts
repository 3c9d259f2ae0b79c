// Dials the server of a data folder, and nobody else who may hold its port.
import { connect, Socket } from "node:net";
import { isPostmasterOf, readPostmasterFile } from "./postmaster-file.ts";
import { processStart } from "./running-process.ts";

/** Gives a connected socket for the PostgreSQL client; one that fails at once when the server is not there. */
export type Dial = () => Promise<Socket>;

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Whoever binds the port of a dead server could ask the client for its password. So the server must be seen running
 * before the connection is made and the same one after it: then nobody else can have listened on its port meanwhile.
 */
export function dialServer(data: string): Dial {
  return async () => {
    try {
      return await dialChecked(data);
    } catch (error) {
      return failing(error instanceof Error ? error : new Error(String(error)));
    }
  };
}

async function dialChecked(data: string): Promise<Socket> {
  const before = await listeningServer(data);
  if (before === undefined) throw notThere(data);
  const socket = await connected(before.port);
  const after = await listeningServer(data);
  if (after?.port === before.port && after.identity === before.identity) return socket;
  socket.destroy();
  throw notThere(data);
}

/** "ready" is written once the server listens; the port alone is written before. */
async function listeningServer(data: string) {
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
function failing(error: Error): Socket {
  const socket = new Socket();
  setImmediate(() => socket.destroy(error));
  return socket;
}

function notThere(data: string): Error {
  return outage("ECONNREFUSED", `No PostgreSQL runs on ${data}`);
}

function outage(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
