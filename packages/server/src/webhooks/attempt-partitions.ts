// The days of the attempts log: made ahead of time, dropped when they are past keeping, never in a writer's way.
import type { Sql } from "../database/connect.ts";

const dayMs = 24 * 60 * 60 * 1000;
const daysAhead = 2;
const nameForm = /^delivery_attempts_(\d{4})(\d{2})(\d{2})$/;

export interface AttemptPartitions {
  /** Makes sure that an attempt of this moment can be logged. Asks the database once a day. */
  ensure(nowMs: number): Promise<void>;
  /** Drops the days that began more than `keepDays` days ago, and answers how many. */
  dropOld(nowMs: number, keepDays: number): Promise<number>;
}

export function createAttemptPartitions(sql: Sql): AttemptPartitions {
  const known = new Set<number>();
  return {
    async ensure(nowMs) {
      const today = Math.floor(nowMs / dayMs);
      if (known.has(today)) return;
      for (let day = today - 1; day <= today + daysAhead; day++) {
        if (!known.has(day)) await createDay(sql, day);
        known.add(day);
      }
    },
    async dropOld(nowMs, keepDays) {
      const oldest = Math.floor(nowMs / dayMs) - keepDays;
      let dropped = 0;
      for (const { name, attached } of await listDays(sql)) {
        const [, year = "", month = "", day = ""] = nameForm.exec(name) ?? [];
        if (Date.UTC(Number(year), Number(month) - 1, Number(day)) / dayMs >= oldest) continue;
        // Waits for running statements instead of holding up new ones; cannot be part of a transaction.
        if (attached) await sql`ALTER TABLE delivery_attempts DETACH PARTITION ${sql(name)} CONCURRENTLY`;
        await sql`DROP TABLE IF EXISTS ${sql(name)}`;
        dropped++;
      }
      return dropped;
    },
  };
}

function partitionName(day: number): string {
  return `delivery_attempts_${new Date(day * dayMs).toISOString().slice(0, 10).replaceAll("-", "")}`;
}

/** Attached rather than created as a partition: that needs a lock which stops neither readers nor writers. */
async function createDay(sql: Sql, day: number): Promise<void> {
  const name = partitionName(day);
  const [from, to] = [new Date(day * dayMs).toISOString(), new Date((day + 1) * dayMs).toISOString()];
  await sql.begin(async (tx) => {
    // Several processes may come here at once; who is second finds it done.
    await tx`LOCK TABLE delivery_attempts IN SHARE UPDATE EXCLUSIVE MODE`;
    const [found] = await tx<[{ exists: boolean }]>`SELECT to_regclass(${name}) IS NOT NULL AS exists`;
    if (found.exists) return;
    await tx`CREATE TABLE ${tx(name)} (LIKE delivery_attempts INCLUDING ALL)`;
    await tx.unsafe(
      `ALTER TABLE delivery_attempts ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`,
    );
  });
}

async function listDays(sql: Sql): Promise<{ name: string; attached: boolean }[]> {
  const rows = await sql<{ name: string; attached: boolean }[]>`
    SELECT c.relname AS name, EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = c.oid) AS attached
    FROM pg_class c
    WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
      AND c.relname LIKE 'delivery\\_attempts\\_%'`;
  return rows.filter((row) => nameForm.test(row.name));
}
