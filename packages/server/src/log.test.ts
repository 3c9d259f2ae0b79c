// The log takes secrets out of what callers and errors put into it.
import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { createLog, scrub } from "./log.ts";

const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ1In0.c2lnbmF0dXJl";

describe("scrub", () => {
  it.each([
    ["an access token", "cst_0123456789ABCdef"],
    ["an operator token", "cso_0123456789ABCdef"],
    ["a JWT", jwt],
    ["the first two parts of a JWT", "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ1In0"],
    ["a header with any credential", "Bearer whatever-it-is"],
  ])("takes out %s and leaves what is around it", (_what, secret) => {
    expect(scrub(`before ${secret} after`)).toBe("before [secret] after");
    expect(scrub(`/a/${secret}`)).toBe("/a/[secret]");
    expect(scrub(`${secret} and ${secret}`)).not.toContain(secret.slice(-6));
  });

  it("leaves ordinary text alone", () => {
    const text = "/api/games/my-game/purchases/pur_01h455vb4pex5vsknk084sn02q: the bearer of news";
    expect(scrub(text)).toBe(text);
  });
});

describe("createLog", () => {
  function record(write: (log: ReturnType<typeof createLog>) => void): Record<string, unknown>[] {
    const lines: string[] = [];
    const sink = new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    });
    write(createLog("info", sink));
    return lines.map((line) => JSON.parse(line));
  }

  it("scrubs the message and the stack of an error, and keeps its name and code", () => {
    const error = Object.assign(new TypeError(`bad token ${jwt}`), { code: "EBAD", receiptJwt: jwt });
    const [line] = record((log) => log.error({ err: error }, "A request failed"));
    expect(JSON.stringify(line)).not.toContain("eyJ");
    expect(line?.["err"]).toMatchObject({ type: "TypeError", message: "bad token [secret]", code: "EBAD" });
    expect(line?.["err"]).not.toHaveProperty("receiptJwt");
  });

  it("scrubs what was thrown and is no error", () => {
    const [line] = record((log) => log.warn({ err: `thrown ${jwt}` }, "odd"));
    expect(line?.["err"]).toEqual({ message: "thrown [secret]" });
  });

  it("writes nothing below its level, and no host name or process id", () => {
    const lines = record((log) => {
      log.debug("no");
      log.info("yes");
    });
    expect(lines).toEqual([{ level: 30, time: expect.any(Number), msg: "yes" }]);
  });
});
