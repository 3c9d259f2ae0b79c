// A POST that creates may carry an Idempotency-Key: the same key creates once and is answered the same for a day.
import { createHash } from "node:crypto";
import { limits } from "@coinslot/contract";
import type { Clock } from "../clock.ts";
import type { Queryable, Sql, Tx } from "../database/connect.ts";
import { seal, unseal } from "../seal.ts";
import { conflict, invalidInput } from "./api-error.ts";

export interface IdempotencyKey {
  readonly gameId: string;
  readonly operation: string;
  readonly caller: string;
  readonly key: string;
  readonly requestHash: Buffer;
}

export interface IdempotencyDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly masterKey: Buffer;
}

const keyForm = new RegExp(`^[\\x21-\\x7e]{1,${limits.idempotencyKeyMaxChars}}$`);

export function readIdempotencyKey(
  header: string | string[] | undefined,
  about: { gameId: string; operation: string; caller: string; input: unknown },
): IdempotencyKey | null {
  if (header === undefined) return null;
  if (typeof header !== "string" || !keyForm.test(header)) {
    throw invalidInput(
      `Idempotency-Key: must be 1 to ${limits.idempotencyKeyMaxChars} visible ASCII characters.`,
      "Idempotency-Key",
    );
  }
  const { gameId, operation, caller, input } = about;
  const requestHash = createHash("sha256").update(JSON.stringify(input)).digest();
  return { gameId, operation, caller, key: header, requestHash };
}

/** What the answer is sealed to: it opens for this very key alone. */
function bindingOf(key: IdempotencyKey): string {
  return JSON.stringify(["idempotency", key.gameId, key.operation, key.caller, key.key]);
}

export function sealAnswer(masterKey: Buffer, key: IdempotencyKey, answer: unknown): Buffer {
  return seal(masterKey, Buffer.from(JSON.stringify(answer)), bindingOf(key));
}

/** A key older than this may be used anew. */
export function expiredBefore(nowMs: number): Date {
  return new Date(nowMs - limits.idempotencyKeyKeepMs);
}

/** The answer that was given for the key, or a conflict when it was given for another request. */
export async function replayAnswer(sql: Queryable, masterKey: Buffer, key: IdempotencyKey): Promise<unknown> {
  const [row] = await sql<{ requestHash: Buffer; answer: Buffer }[]>`
    SELECT request_hash, answer FROM idempotency_keys
    WHERE game_id = ${key.gameId} AND operation = ${key.operation} AND caller = ${key.caller} AND key = ${key.key}`;
  if (row === undefined)
    throw conflict("The Idempotency-Key has just expired. Send the request again.", "Idempotency-Key");
  if (!row.requestHash.equals(key.requestHash)) {
    throw conflict(
      "This Idempotency-Key was already used for another request. Use a new key for a new request.",
      "Idempotency-Key",
    );
  }
  return JSON.parse(unseal(masterKey, row.answer, bindingOf(key)).toString());
}

/** Runs `work` in a transaction, at most once for a key; a repeat is answered with the first answer. */
export async function createOnce<T>(
  deps: IdempotencyDeps,
  key: IdempotencyKey | null,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  if (key === null) return deps.sql.begin(work) as Promise<T>;
  return deps.sql.begin(async (tx) => {
    const now = new Date(deps.clock.nowMs());
    // A second request with the key waits here for the first one's commit.
    const claimed = await tx`
      INSERT INTO idempotency_keys (game_id, operation, caller, key, request_hash, answer, created_at)
      VALUES (${key.gameId}, ${key.operation}, ${key.caller}, ${key.key}, ${key.requestHash}, '', ${now})
      ON CONFLICT (game_id, operation, caller, key) DO UPDATE
        SET request_hash = excluded.request_hash, answer = '', created_at = excluded.created_at
        WHERE idempotency_keys.created_at < ${expiredBefore(now.getTime())}
      RETURNING key`;
    // What is stored is an answer of this same operation, so it has this operation's type.
    if (claimed.length === 0) return (await replayAnswer(tx, deps.masterKey, key)) as T;
    const answer = await work(tx);
    await tx`
      UPDATE idempotency_keys SET answer = ${sealAnswer(deps.masterKey, key, answer)}
      WHERE game_id = ${key.gameId} AND operation = ${key.operation} AND caller = ${key.caller} AND key = ${key.key}`;
    return answer;
  }) as Promise<T>;
}

const forgetBatchCount = 10_000;

/** Forgets keys past their day, some at a time. Run now and then; a key is dead on time even when this is late. */
export async function forgetExpiredKeys(deps: Pick<IdempotencyDeps, "sql" | "clock">): Promise<void> {
  const before = expiredBefore(deps.clock.nowMs());
  for (;;) {
    const forgotten = await deps.sql`
      DELETE FROM idempotency_keys WHERE ctid IN (
        SELECT ctid FROM idempotency_keys WHERE created_at < ${before} LIMIT ${forgetBatchCount})`;
    if (forgotten.count < forgetBatchCount) return;
  }
}
