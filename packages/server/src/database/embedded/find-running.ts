// Finds the embedded server that already runs on a data folder, for a command beside the service.
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { homeFolder } from "./choose-home.ts";
import { appUrl } from "./connection.ts";
import { type Dial, dialServer } from "./dial-server.ts";
import { readAppPassword } from "./password.ts";
import { isPostmasterOf, readPostmasterFile } from "./postmaster-file.ts";

export interface FoundServer {
  readonly url: string;
  readonly dial: Dial;
}

/** Undefined when none runs there, or we may not look. */
export async function findRunning(dataDir: string): Promise<FoundServer | undefined> {
  try {
    const folder = await realpath(dataDir);
    const data = join(await homeFolder(folder), "data");
    const [password, file] = await Promise.all([readAppPassword(folder), readPostmasterFile(data)]);
    if (!password || !file?.ready || !(await isPostmasterOf(file.pid, data))) return undefined;
    return { url: appUrl(file.port, password), dial: dialServer(data) };
  } catch {
    // A start on the same folder says what is wrong with it.
    return undefined;
  }
}
