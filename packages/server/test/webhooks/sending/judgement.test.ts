// What counts as delivered, and how every other outcome is put to a person.
import net from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAuthority, selfSigned } from "./make-certificate.ts";
import { answer, answerBytes, listen, testAuthority } from "./receiver.ts";
import { jwt, testReceiver, testSender } from "./test-sender.ts";

const dayMs = 24 * 60 * 60 * 1000;

describe("an answer", () => {
  it.each([200, 201, 202, 204, 226, 299])("%i is delivered", async (status) => {
    const receiver = await testReceiver({ behave: answer(status) });
    const attempt = await testSender().send(receiver.url(), jwt);
    expect(attempt).toMatchObject({ delivered: true, failure: null, response: { status } });
  });

  it.each([304, 306, 399, 400, 401, 404, 410, 429, 500, 503, 599])("%i is a failure", async (status) => {
    const receiver = await testReceiver({ behave: answer(status) });
    const attempt = await testSender().send(receiver.url(), jwt);
    expect(attempt.delivered).toBe(false);
    expect(attempt.failure).toEqual({ code: "status", sentence: `answered ${status}` });
    expect(attempt.response?.status).toBe(status);
  });

  it.each([300, 301, 302, 303, 307, 308])("%i is a redirect that is not followed", async (status) => {
    const elsewhere = await testReceiver();
    const location = elsewhere.url("/moved");
    const receiver = await testReceiver({ behave: answer(status, { location }) });
    const attempt = await testSender().send(receiver.url(), jwt);
    const sentence = `redirect (${status}) to ${location} was not followed`;
    expect(attempt).toMatchObject({ delivered: false, failure: { code: "redirect", sentence } });
    expect(elsewhere.connectionCount()).toBe(0);
  });

  it("that redirects nowhere, or to somewhere long, still reads well", async () => {
    const nowhere = await testReceiver({ behave: answer(302) });
    const long = await testReceiver({
      behave: answer(302, { location: `https://a.test/${"x".repeat(4_000)}` }),
    });
    const sender = testSender();
    expect((await sender.send(nowhere.url(), jwt)).failure?.sentence).toBe("redirect (302) was not followed");
    expect((await sender.send(long.url(), jwt)).failure?.sentence.length).toBeLessThan(300);
  });

  it.each([
    ["HTTP/1.0", answerBytes("HTTP/1.0 200 OK\r\n\r\nhello", true), "hello"],
    [
      "no length, ended by closing",
      answerBytes("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhi", true),
      "hi",
    ],
    [
      "chunks",
      answerBytes("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
      "hi",
    ],
    [
      "100 before 200",
      answerBytes("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
      "ok",
    ],
    [
      "103 before 200",
      answerBytes("HTTP/1.1 103 Hints\r\nlink: a\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"),
      "",
    ],
    ["no reason phrase", answerBytes("HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok"), "ok"],
  ])("with %s is delivered", async (_what, behave, body) => {
    const receiver = await testReceiver({ behave });
    const attempt = await testSender().send(receiver.url(), jwt);
    expect(attempt).toMatchObject({ delivered: true, response: { status: 200, body, truncated: false } });
  });

  it("with a 100 on its own, then a 200, is delivered", async () => {
    const receiver = await testReceiver({
      behave: (socket, request) => {
        socket.write("HTTP/1.1 100 Continue\r\n\r\n");
        setTimeout(() => answer(200)(socket, request), 50);
      },
    });
    expect((await testSender().send(receiver.url(), jwt)).delivered).toBe(true);
  });

  it.each([
    ["garbage", answerBytes("SSH-2.0-OpenSSH_9.6\r\n"), "invalid_response"],
    [
      "two lengths",
      answerBytes("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n"),
      "invalid_response",
    ],
    [
      "an upgrade",
      answerBytes("HTTP/1.1 101 Up\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"),
      "invalid_response",
    ],
    ["half a status line", answerBytes("HTTP/1.1 20", true), "connection_reset"],
    [
      "headers too large",
      answerBytes(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(20_000)}\r\n\r\n`),
      "headers_too_large",
    ],
    ["nothing", answerBytes("", true), "connection_reset"],
  ])("with %s is a failure", async (_what, behave, code) => {
    const receiver = await testReceiver({ behave });
    const attempt = await testSender().send(receiver.url(), jwt);
    expect(attempt).toMatchObject({ delivered: false, failure: { code }, response: null });
    expect(receiver.requests).toHaveLength(1);
  });

  it("that is any bytes at all ends the attempt without an exception", async () => {
    let bytes = Buffer.alloc(0);
    const receiver = await testReceiver({ behave: (socket) => socket.end(bytes) });
    const sender = testSender();
    const piece = fc.oneof(
      fc.constantFrom(
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 100 C\r\n\r\n",
        "HTTP/1.1 103 E\r\n\r\n",
        "HTTP/1.0 500 No\r\n",
      ),
      fc.constantFrom(
        "content-length: 5\r\n",
        "transfer-encoding: chunked\r\n",
        "connection: close\r\n",
        "\r\n",
        "5\r\nhello\r\n",
      ),
      fc.constantFrom(
        "__proto__: 1\r\n",
        "constructor: 2\r\n",
        "constructor: 3\r\n",
        "keep-alive: timeout=0\r\n",
        "0\r\n\r\n",
      ),
      fc.string({ maxLength: 20 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        bytes = Buffer.from(pieces.join(""));
        const attempt = await sender.send(receiver.url(), jwt);
        expect(attempt.delivered).toBe(attempt.failure === null);
        if (attempt.delivered) expect(attempt.response?.status).toBe(200);
      }),
      { numRuns: 150 },
    );
  });
});

describe("what is kept of an answer", () => {
  it("is headers and body, names in lower case, repeats joined", async () => {
    const head = "HTTP/1.1 500 No\r\nX-One: 1\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nconstructor: c\r\n";
    const receiver = await testReceiver({ behave: answerBytes(`${head}content-length: 3\r\n\r\nbad`) });
    const { response } = await testSender().send(receiver.url(), jwt);
    expect(response).toEqual({
      status: 500,
      headers: { "x-one": "1", "set-cookie": "a=1, b=2", constructor: "c", "content-length": "3" },
      body: "bad",
      truncated: false,
    });
  });

  it.each([
    [16 * 1024, false],
    [16 * 1024 + 1, true],
    [1024 * 1024, true],
  ])("of a body of %i bytes is at most 16 KiB", async (length, truncated) => {
    const receiver = await testReceiver({ behave: answer(200, {}, "b".repeat(length)) });
    const { delivered, response } = await testSender().send(receiver.url(), jwt);
    expect(delivered).toBe(true);
    expect(response?.body).toBe("b".repeat(16 * 1024));
    expect(response?.truncated).toBe(truncated);
  });

  it("can be stored as text whatever the bytes are, and no character is cut in half", async () => {
    const bytes = Buffer.concat([Buffer.from([0, 0xff, 0xc3]), Buffer.from("é€\ufeff")]);
    const head = `HTTP/1.1 200 OK\r\ncontent-length: ${bytes.length}\r\n\r\n`;
    const broken = await testReceiver({ behave: answerBytes(Buffer.concat([Buffer.from(head), bytes])) });
    const long = await testReceiver({ behave: answer(200, {}, `a${"é".repeat(10_000)}`) });
    const sender = testSender();
    expect((await sender.send(broken.url(), jwt)).response?.body).toBe("\ufffd\ufffd\ufffdé€\ufeff");
    expect((await sender.send(long.url(), jwt)).response?.body).toBe(`a${"é".repeat(8 * 1024 - 1)}`);
  });

  it("is the compressed bytes of a compressed body", async () => {
    const receiver = await testReceiver({
      behave: answer(200, { "content-encoding": "gzip" }, "not gzip at all"),
    });
    const attempt = await testSender().send(receiver.url(), jwt);
    expect(attempt).toMatchObject({ delivered: true, response: { body: "not gzip at all" } });
  });

  it("is all that came when a 2xx breaks off in its body", async () => {
    const receiver = await testReceiver({
      behave: answerBytes("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf", true),
    });
    const attempt = await testSender().send(receiver.url(), jwt);
    expect(attempt).toMatchObject({ delivered: true, response: { body: "half", truncated: true } });
  });

  it("includes Retry-After, bounded, and only of failures", async () => {
    const later = { "retry-after": "120" };
    const failing = await testReceiver({ behave: answer(503, later) });
    const fine = await testReceiver({ behave: answer(200, later) });
    const sender = testSender();
    expect((await sender.send(failing.url(), jwt)).retryAfterMs).toBe(120_000);
    expect((await sender.send(fine.url(), jwt)).retryAfterMs).toBeNull();
  });
});

describe("a certificate", () => {
  const expired = { notBefore: new Date(Date.now() - 9 * dayMs), notAfter: new Date(Date.now() - 2 * dayMs) };
  const future = { notBefore: new Date(Date.now() + dayMs), notAfter: new Date(Date.now() + 2 * dayMs) };
  const names = ["receiver.test"];
  it.each([
    ["that has expired", testAuthority.issue({ names, ...expired }), "certificate_expired", "has expired"],
    [
      "that is not valid yet",
      testAuthority.issue({ names, ...future }),
      "certificate_not_yet_valid",
      "not valid yet",
    ],
    [
      "for another name",
      testAuthority.issue({ names: ["other.test"] }),
      "certificate_wrong_name",
      "another name",
    ],
    ["that is self-signed", selfSigned({ names }), "certificate_untrusted", "self-signed"],
    [
      "of an unknown issuer",
      createAuthority("?").issue({ names }),
      "certificate_untrusted",
      "issuer is unknown",
    ],
  ])("%s is refused before the receipt is sent", async (_what, certificate, code, words) => {
    const receiver = await testReceiver({ certificate });
    const attempt = await testSender().send(receiver.url(), jwt);
    expect(attempt).toMatchObject({ delivered: false, failure: { code }, response: null });
    expect(attempt.failure?.sentence).toContain(words);
    expect(receiver.requests).toEqual([]);
  });

  it("for an address is accepted on that address", async () => {
    const receiver = await testReceiver();
    expect((await testSender().send(receiver.url("/", "127.0.0.1"), jwt)).delivered).toBe(true);
    expect((await testSender().send(receiver.url("/", "127.1"), jwt)).delivered).toBe(true);
  });

  it("is asked for by the name in the URL, without a final dot", async () => {
    const names: (string | false | null)[] = [];
    const receiver = await testReceiver({
      onSecure: (socket) => names.push(Reflect.get(socket, "servername")),
    });
    const sender = testSender();
    expect((await sender.send(receiver.url("/", "receiver.test."), jwt)).delivered).toBe(true);
    expect((await sender.send(receiver.url("/", "a.receiver.test"), jwt)).delivered).toBe(true);
    expect(names).toEqual(["receiver.test", "a.receiver.test"]);
  });
});

describe("without an answer", () => {
  const failing = (code: string) => () =>
    Promise.reject(Object.assign(new Error(`getaddrinfo ${code} 10.1.2.3`), { code }));

  it.each([
    ["a name that does not exist", failing("ENOTFOUND"), "name_not_resolved"],
    ["a name without addresses", async () => [], "name_not_resolved"],
    ["a resolver that fails", failing("EAI_AGAIN"), "name_lookup_failed"],
  ])("%s is explained", async (_what, lookup, code) => {
    const attempt = await testSender({ lookup }).send("https://receiver.test/", jwt);
    expect(attempt).toMatchObject({ delivered: false, failure: { code }, response: null });
    expect(attempt.failure?.sentence).not.toMatch(/\d/);
  });

  it("a refused connection is explained without the address", async () => {
    const gone = await testReceiver();
    await gone.close();
    const { failure } = await testSender().send(gone.url(), jwt);
    expect(failure).toEqual({ code: "connection_refused", sentence: "connection refused" });
  });

  it("a receiver that does not speak TLS is explained", async () => {
    const server = net.createServer((socket) =>
      socket.on("error", () => undefined).end("220 mail ready\r\n"),
    );
    const port = await listen(server);
    const { failure } = await testSender().send(`https://receiver.test:${port}/`, jwt);
    server.close();
    expect(failure).toEqual({ code: "tls_failed", sentence: "the TLS handshake failed" });
  });

  it("a connection that ends in the handshake is explained", async () => {
    const server = net.createServer((socket) =>
      socket.on("error", () => undefined).once("data", () => socket.destroy()),
    );
    const port = await listen(server);
    const { failure } = await testSender().send(`https://receiver.test:${port}/`, jwt);
    server.close();
    const sentence = "the connection was reset while completing the TLS handshake";
    expect(failure).toEqual({ code: "connection_reset", sentence });
  });

  it.each([
    "http://receiver.test/",
    "ftp://receiver.test/",
    "https://user:secret@receiver.test/",
    "https://user@receiver.test/",
    "https://",
    "https://256.256.256.256/",
    "receiver.test",
    "",
    "javascript:alert(1)",
    "file:///etc/passwd",
  ])("%j is not a URL that webhooks go to", async (url) => {
    const attempt = await testSender({ lookup: () => Promise.reject(new Error("asked")) }).send(url, jwt);
    expect(attempt).toMatchObject({ delivered: false, failure: { code: "invalid_url" }, requestHeaders: {} });
    expect(attempt.failure?.sentence).not.toContain("secret");
  });
});
