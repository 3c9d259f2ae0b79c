// What is hardly HTTP: answered with an error of the documented shape or a closed connection, and the service lives on.
import { errorBody, limits } from "@coinslot/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createGame } from "../support/seed.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createFingerprint } from "./junk-world.ts";
import { type RawAnswer, sendBytes } from "./raw-request.ts";

let service: TestService;
let fingerprint: () => Promise<string>;
beforeAll(async () => {
  service = await startTestService();
  fingerprint = await createFingerprint(service);
});
afterAll(() => service.stop());

const start = (line: string, ...headers: string[]) => [line, ...headers, "", ""].join("\r\n");
const host = "Host: localhost";
const close = "Connection: close";
const json = "Content-Type: application/json";
const post = (...headers: string[]) => {
  const operator = `Authorization: Bearer ${service.operatorToken}`;
  return start("POST /api/games HTTP/1.1", host, close, operator, json, ...headers);
};
const good = '{"title":"A game"}';

/** By what is wrong; each is a function because some need the service's token. */
const broken: Readonly<Record<string, () => string | Buffer>> = {
  "a TLS greeting": () => Buffer.from("16030100a5010000a10303", "hex"),
  "the greeting of HTTP/2": () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "words that are not HTTP": () => "hello there\r\n\r\n",
  "bytes that are not text": () => Buffer.alloc(2_000, 0xfe),
  "an empty line and nothing more of a request line": () => "GET\r\n\r\n",
  "a method that nobody knows": () => start("FROBNICATE /healthz HTTP/1.1", host, close),
  "a version that nobody knows": () => start("GET /healthz HTTP/9.9", host, close),
  "a header of 100 KB": () =>
    start("GET /api/games HTTP/1.1", host, close, `X-Large: ${"x".repeat(100_000)}`),
  "an address of 100 KB": () => start(`GET /api/games/${"x".repeat(100_000)} HTTP/1.1`, host, close),
  "five thousand headers": () => start("GET /api/games HTTP/1.1", host, close, ...Array(5_000).fill("A: b")),
  "a header without a colon": () => start("GET /healthz HTTP/1.1", host, close, "nonsense"),
  "a header with a NUL": () => start("GET /healthz HTTP/1.1", host, close, "X-A: a\0b"),
  "no Host": () => start("GET /healthz HTTP/1.1", close),
  "an expectation that nobody can meet": () => post("Expect: the-impossible", "Content-Length: 18") + good,
  "a length that is no number": () => post("Content-Length: many") + good,
  "a negative length": () => post("Content-Length: -5") + good,
  "two lengths": () => post("Content-Length: 18", "Content-Length: 2") + good,
  "a length and chunks": () => post("Content-Length: 18", "Transfer-Encoding: chunked") + good,
  "chunks that are garbage": () => post("Transfer-Encoding: chunked") + "ZZZ\r\nnothing\r\n",
  "a chunk longer than it says": () => post("Transfer-Encoding: chunked") + `2\r\n${good}\r\n0\r\n\r\n`,
  "an unknown transfer coding": () => post("Transfer-Encoding: rot13") + good,
  "a body larger than the limit": () =>
    post(`Content-Length: ${limits.bodyMaxBytes + 1}`) + " ".repeat(limits.bodyMaxBytes + 1),
  "chunks that add up to more than the limit": () =>
    post("Transfer-Encoding: chunked") + `8000\r\n${" ".repeat(0x8000)}\r\n`.repeat(3) + "0\r\n\r\n",
  "a tunnel": () => start("CONNECT localhost:80 HTTP/1.1", host, close),
};

for (const [what, make] of Object.entries(broken)) {
  test(`${what}: an error or a closed connection`, async () => {
    const before = await fingerprint();
    const answer = await sendBytes(service.url, make());
    if (answer.status !== 0) expectError(answer);
    expect(await fingerprint()).toBe(before);
    expect((await service.call("GET", "/healthz", { token: null })).status).toBe(200);
  });
}

test("a body that ends early changes nothing", async () => {
  const before = await fingerprint();
  await expect(sendBytes(service.url, post("Content-Length: 500") + good, 300)).rejects.toThrow("No answer");
  expect(await fingerprint()).toBe(before);
  expect((await service.call("GET", "/healthz", { token: null })).status).toBe(200);
});

test("404 for HEAD of a stream, which would be open for ever and without a word", async () => {
  const gameId = await createGame(service);
  const operator = `Authorization: Bearer ${service.operatorToken}`;
  const line = `HEAD /api/games/${gameId}/events/stream HTTP/1.1`;
  expect((await sendBytes(service.url, start(line, host, close, operator))).status).toBe(404);
});

test("413 with the documented body when the body is larger than the limit", async () => {
  const body = JSON.stringify({ title: "x".repeat(limits.bodyMaxBytes) });
  const answer = await sendBytes(service.url, post(`Content-Length: ${body.length}`) + body);
  expect(answer.status).toBe(413);
  expectError(answer);
});

test("none of it was taken for a fault of the service", () => {
  expect(service.logLines.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
});

function expectError(answer: RawAnswer): void {
  const about = `${answer.status} ${answer.body}`;
  expect(answer.status, about).toBeGreaterThanOrEqual(400);
  expect(answer.status, about).toBeLessThan(500);
  expect(answer.body, about).not.toBe("");
  expect(errorBody.strict().safeParse(JSON.parse(answer.body)).error, about).toBeUndefined();
}
