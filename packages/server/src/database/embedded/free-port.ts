// Picks a free loopback port: the one used last, if it is still free.
import { createServer } from "node:net";
import { join } from "node:path";
import { readPlainIfThere } from "./files.ts";

export async function lastPort(data: string): Promise<number> {
  const options = (await readPlainIfThere(join(data, "postmaster.opts"))) ?? "";
  return Number(/port=(\d+)/.exec(options)?.[1] ?? 0);
}

/** The wanted port, or any free one (0 wants none). It may be gone a moment later: the caller tries again. */
export async function freePort(wanted: number): Promise<number> {
  return (await tryPort(wanted)) ?? (await tryPort(0)) ?? 0;
}

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      const found = address !== null && typeof address === "object" ? address.port : undefined;
      server.close(() => resolve(found));
    });
  });
}
