// A small service for the tests to kill: starts the embedded server, reports, and writes rows if asked to.
import postgres from "postgres";
import { startEmbedded } from "../../src/database/embedded/start-embedded.ts";

const [dataDir = "", task = "idle", binDir] = process.argv.slice(2);
const say = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);

try {
  const server = await startEmbedded({
    dataDir,
    log: (text) => say({ log: text }),
    ...(binDir ? { binDir } : {}),
    allowNamespaces: task !== "no-namespaces",
  });
  process.on("SIGTERM", async () => {
    await server.stop();
    process.exit(0);
  });
  say({ started: { url: server.url, pid: server.pid, adopted: server.adopted } });
  if (task === "write") await write(server.url);
  setInterval(() => {}, 60_000);
} catch (error) {
  say({ failed: error instanceof Error ? { name: error.name, message: error.message } : String(error) });
  process.exit(1);
}

async function write(url: string): Promise<void> {
  const sql = postgres(url, { max: 8, onnotice: () => {} });
  await sql`create table if not exists written (id int primary key)`;
  let next = 0;
  const writer = async () => {
    for (;;) {
      const id = ++next;
      await sql`insert into written values (${id})`;
      say({ acknowledged: id });
    }
  };
  await Promise.all(Array.from({ length: 8 }, writer));
}
