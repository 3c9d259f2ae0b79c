// Sends junk and holds every answer against the document: no 5xx, the documented error, and not one row changed.
import { errorBody, errorStatuses } from "@coinslot/contract";
import fc from "fast-check";
import { expect } from "vitest";
import type { Described } from "./document.ts";
import { type RawAnswer, type RawRequest, sendRequest } from "./raw-request.ts";

/** Each property may take this long: the file stays under 25 s on a slow machine. More finds more. */
const budgetMs = Number(process.env["JUNK_BUDGET_MS"] ?? 1_000);

export type Outcome = "refused" | "any";
export type Junk = readonly [request: RawRequest, outcome: Outcome];

export interface Range {
  readonly url: string;
  readonly operations: readonly Described[];
  readonly fingerprint: () => Promise<string>;
}

/** Each run sends one piece of junk to every operation that `make` has some for, all at once. */
export async function throwJunk(
  { url, operations, fingerprint }: Range,
  make: (target: Described) => fc.Arbitrary<Junk> | null,
): Promise<void> {
  const thrown = operations.flatMap((target) => {
    const requests = make(target);
    return requests === null ? [] : [requests.map(([request, outcome]) => ({ target, request, outcome }))];
  });
  expect(thrown.length).toBeGreaterThan(0);
  let before = await fingerprint();
  const property = fc.asyncProperty(fc.tuple(...thrown), async (pieces) => {
    const answers = await Promise.all(pieces.map(({ request }) => sendRequest(url, request)));
    const after = await fingerprint();
    const changed = after !== before;
    before = after;
    for (const [at, { target, request, outcome }] of pieces.entries()) {
      const answer = answers[at];
      if (answer !== undefined) checkAnswer(target, request, answer, outcome);
    }
    expect(changed, "one of these refused requests changed the database").toBe(false);
  });
  const { failed, seed, counterexamplePath, errorInstance, numRuns } = await fc.check(property, {
    numRuns: 100 * Math.ceil(budgetMs / 1_000),
    interruptAfterTimeLimit: budgetMs,
    ...(process.env["JUNK_SEED"] === undefined ? {} : { seed: Number(process.env["JUNK_SEED"]) }),
  });
  expect(numRuns).toBeGreaterThan(0);
  // The report of fast-check would print the junk for every operation; the cause names the one.
  if (failed)
    throw new Error(`JUNK_SEED=${seed} finds it again (${counterexamplePath})`, { cause: errorInstance });
}

function checkAnswer(
  { method, path, operation }: Described,
  request: RawRequest,
  answer: RawAnswer,
  outcome: Outcome,
): void {
  const sent = JSON.stringify({ ...request, body: String(request.body) }).slice(0, 1_500);
  const about = `${method} ${path} answered ${answer.status} ${answer.body.slice(0, 300)} to ${sent}`;
  expect(answer.status, about).toBeGreaterThanOrEqual(outcome === "refused" ? 400 : 200);
  expect(answer.status, about).toBeLessThan(500);
  expect(Object.keys(operation.responses), about).toContain(String(answer.status));
  if (answer.status < 400) return;
  expect(answer.headers["content-type"], about).toMatch(/^application\/json/);
  const { error, data } = errorBody.strict().safeParse(JSON.parse(answer.body));
  expect(error, about).toBeUndefined();
  expect(data && errorStatuses[data.code], about).toBe(answer.status);
}
