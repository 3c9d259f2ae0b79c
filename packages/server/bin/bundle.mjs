// Puts the TypeScript sources together into one file of JavaScript. Takes a tenth of a second, so every start does it.
import { cpSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Answers the address of the file. */
export async function bundle() {
  const target = here("../dist/main.mjs");
  const result = await build({
    entryPoints: [here("../src/main.ts")],
    outfile: target,
    write: false,
    bundle: true,
    packages: "external",
    // Our own packages are sources too, and belong into the file.
    alias: { "@coinslot/contract": here("../../contract/src/index.ts") },
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    sourcesContent: false,
    keepNames: true,
    logLevel: "silent",
  });
  try {
    mkdirSync(here("../dist"), { recursive: true });
    cpSync(here("../src/database/migrations"), here("../dist/migrations"), { recursive: true });
    // Another start may be reading the file: it is replaced whole.
    const draft = `${target}.${process.pid}`;
    writeFileSync(draft, result.outputFiles[0].contents);
    renameSync(draft, target);
  } catch (error) {
    // A folder that only its owner may write to: what they have built is as good.
    if (!existsSync(target)) throw error;
  }
  return new URL("../dist/main.mjs", import.meta.url).href;
}
