// A whole service on a real port and a real database, with a clock that can be moved.
import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { Writable } from "node:stream";
import { errorBody } from "@coinslot/contract";
import { expect, inject } from "vitest";
import { type App, createApp } from "../../src/app.ts";
import { type Clock, systemClock } from "../../src/clock.ts";
import type { RateLimits } from "../../src/config.ts";
import { createIds } from "../../src/ids.ts";
import { createLog } from "../../src/log.ts";
import type { Sender } from "../../src/webhooks/sending/send-webhook.ts";
import { createTestDatabase, type TestDatabase } from "./test-database.ts";

export interface Answer {
  readonly status: number;
  // The tests look into answers of every shape.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any;
  readonly headers: Headers;
}

export interface CallOptions {
  readonly token?: string | null;
  readonly body?: unknown;
  /** Sent as it is. */
  readonly raw?: string;
  readonly headers?: Record<string, string>;
}

export interface TestService {
  readonly app: App;
  readonly url: string;
  readonly database: TestDatabase;
  readonly operatorToken: string;
  readonly masterKey: Buffer;
  readonly logLines: string[];
  /** The service's clock. */
  nowMs(): number;
  /** Moves the service's clock forward. */
  advance(ms: number): void;
  /** Calls the API, by default as the operator. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  stop(): Promise<void>;
}

export interface TestServiceOptions {
  readonly rateLimits?: Partial<RateLimits>;
  readonly database?: TestDatabase;
  readonly authUrl?: string;
  readonly masterKey?: Buffer;
  readonly operatorToken?: string;
  /** Without one nothing is sent. */
  readonly sender?: Pick<Sender, "send">;
}

export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const database = options.database ?? (await createTestDatabase());
  const masterKey = options.masterKey ?? Buffer.from(inject("masterKey"), "hex");
  const operatorToken = options.operatorToken ?? `operator-${randomBytes(24).toString("hex")}`;
  const logLines: string[] = [];
  let offsetMs = 0;
  const clock: Clock = { nowMs: () => Date.now() + offsetMs, sleep: systemClock.sleep };
  const baseUrl = "http://localhost:4000";
  const app = await createApp({
    config: {
      baseUrl,
      authUrl: options.authUrl ?? baseUrl,
      trustProxy: [],
      rateLimits: { credential: 0, address: 0, failed: 0, ...options.rateLimits },
    },
    sql: database.sql,
    clock,
    ids: createIds(clock, randomBytes),
    randomBytes,
    masterKey,
    operatorToken,
    servesApi: true,
    webhooks: options.sender === undefined ? null : { sender: options.sender, attemptsKeepDays: 90 },
    log: createLog(
      "debug",
      new Writable({
        write(chunk, _encoding, done) {
          logLines.push(String(chunk));
          done();
        },
      }),
    ),
    onAnswer: (route, answer) => {
      if (route.answer.mediaType === undefined) route.answer.schema.parse(answer);
    },
  });
  await app.http.listen({ host: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`;

  return {
    app,
    url,
    database,
    operatorToken,
    masterKey,
    logLines,
    nowMs: clock.nowMs,
    advance: (ms) => {
      offsetMs += ms;
    },
    async call(method, path, { token = operatorToken, body, raw, headers = {} } = {}) {
      const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
      const response = await fetch(url + path, {
        method,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(payload === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(payload === undefined ? {} : { body: payload }),
      });
      const text = await response.text();
      const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
      const answer = {
        status: response.status,
        body: isJson ? JSON.parse(text) : text,
        headers: response.headers,
      };
      if (response.status >= 400) expect(errorBody.strict().safeParse(answer.body).error).toBeUndefined();
      return answer;
    },
    async stop() {
      await app.stop();
      if (options.database === undefined) await database.drop();
    },
  };
}

/** Another process's worth of service on the same database. Stop it before the first. */
export function startBeside(first: TestService): Promise<TestService> {
  const { database, masterKey, operatorToken } = first;
  return startTestService({ database, masterKey, operatorToken });
}
