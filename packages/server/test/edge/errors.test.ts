// The shape of every refusal, the headers that every answer carries, and request ids.
import { type ErrorCode, errorBody, errorStatuses, limits } from "@coinslot/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bought, buy, createToken } from "../support/seed.ts";
import {
  type Answer,
  type CallOptions,
  startTestService,
  type TestService,
} from "../support/test-service.ts";

let service: TestService;
let bought: Bought;
let readToken: string;

beforeAll(async () => {
  service = await startTestService();
  bought = await buy(service);
  readToken = await createToken(service, bought.gameId, "leaderboards:read");
});
afterAll(() => service.stop());

const games = "/api/games";
const tooLarge = JSON.stringify({ title: "x".repeat(limits.bodyMaxBytes) });
const refusals: {
  code: ErrorCode;
  what: string;
  method: string;
  path: () => string;
  options: () => CallOptions;
}[] = [
  {
    code: "invalid_input",
    what: "a wrong body",
    method: "POST",
    path: () => games,
    options: () => ({ body: {} }),
  },
  {
    code: "invalid_input",
    what: "malformed JSON",
    method: "POST",
    path: () => games,
    options: () => ({ raw: "{" }),
  },
  { code: "invalid_input", what: "a bad URL", method: "GET", path: () => "/api/%zz", options: () => ({}) },
  {
    code: "unauthorized",
    what: "no credential",
    method: "GET",
    path: () => games,
    options: () => ({ token: null }),
  },
  {
    code: "forbidden",
    what: "a missing scope",
    method: "GET",
    path: () => `/api/games/${bought.gameId}/events`,
    options: () => ({ token: readToken }),
  },
  {
    code: "not_found",
    what: "an unknown route",
    method: "GET",
    path: () => "/nothing/here",
    options: () => ({}),
  },
  {
    code: "not_found",
    what: "an unknown game",
    method: "GET",
    path: () => `${games}/none`,
    options: () => ({}),
  },
  {
    code: "conflict",
    what: "an id that is taken",
    method: "POST",
    path: () => games,
    options: () => ({ body: { id: bought.gameId, title: "Again" } }),
  },
  {
    code: "payload_too_large",
    what: "a body over the limit",
    method: "POST",
    path: () => games,
    options: () => ({ raw: tooLarge }),
  },
  {
    code: "unsupported_media_type",
    what: "a body that is not JSON",
    method: "POST",
    path: () => games,
    options: () => ({ raw: "title=x", headers: { "content-type": "application/x-www-form-urlencoded" } }),
  },
];

async function provoke(refusal: (typeof refusals)[number]): Promise<Answer> {
  return service.call(refusal.method, refusal.path(), refusal.options());
}

describe("the error body", () => {
  it.each(refusals)(
    "$code on $what: its status, a sentence, its code and nothing of the inside",
    async (refusal) => {
      const { status, body, headers } = await provoke(refusal);
      expect(status).toBe(errorStatuses[refusal.code]);
      expect(errorBody.strict().parse(body).code).toBe(refusal.code);
      expect(body.error).toMatch(/^[A-Za-z].*\.$/);
      expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(JSON.stringify(body)).not.toMatch(/stack|node_modules|FST_|SELECT|INSERT|postgres|zod|\.ts\b/i);
    },
  );

  it.each(["", " ", "{", "nul", '{"title":"x",}', '{"title":"x"}{}', "\u0000", '{"title":"\\x"}', "'x'"])(
    "400 POST /api/games with the body %j",
    async (raw) => {
      const { status, body } = await service.call("POST", games, { raw });
      expect({ status, code: body.code }).toEqual({ status: 400, code: "invalid_input" });
    },
  );

  it("a body that tries to reach a prototype reaches nothing: the field is unknown, like any other", async () => {
    const hidden = await service.call("POST", games, { raw: '{"__proto__":{"title":"x"}}' });
    expect(hidden).toMatchObject({ status: 400, body: { code: "invalid_input", field: "title" } });
    const raw = '{"title":"x","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    expect((await service.call("POST", games, { raw })).status).toBe(201);
    expect({}).not.toHaveProperty("polluted");
  });

  it.each(["text/plain", "multipart/form-data; boundary=x", "application/xml", "application/jsonp", "junk"])(
    "415 POST /api/games as %s",
    async (type) => {
      const { status, body } = await service.call("POST", games, {
        raw: '{"title":"x"}',
        headers: { "content-type": type },
      });
      expect({ status, code: body.code }).toEqual({ status: 415, code: "unsupported_media_type" });
    },
  );

  it("201 POST /api/games as JSON with a charset, and with a body of exactly the size allowed", async () => {
    const raw = JSON.stringify({ title: "x", ignored: "" });
    const padded = raw.replace('""', `"${"y".repeat(limits.bodyMaxBytes - raw.length)}"`);
    const headers = { "content-type": "application/json; charset=utf-8" };
    expect(padded).toHaveLength(limits.bodyMaxBytes);
    expect((await service.call("POST", games, { raw: padded, headers })).status).toBe(201);
    const over = padded.replace("y", "yy");
    expect((await service.call("POST", games, { raw: over, headers })).status).toBe(413);
  });

  it("401 before 413 and 415: who has no credential learns nothing about bodies", async () => {
    const options = { token: null, raw: tooLarge, headers: { "content-type": "text/plain" } };
    expect((await service.call("POST", games, options)).status).toBe(401);
  });

  it("401 tells how to authenticate", async () => {
    const { headers } = await service.call("GET", games, { token: null });
    expect(headers.get("www-authenticate")).toBe("Bearer");
  });

  it.each(["Basic b3A6cHc=", "Bearer", "Bearer ", "bearer a b", "Token x", "", "Bearer\tx"])(
    "401 Authorization: %j",
    async (authorization) => {
      const { status, body } = await service.call("GET", games, { token: null, headers: { authorization } });
      expect({ status, code: body.code }).toEqual({ status: 401, code: "unauthorized" });
    },
  );

  it.each(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])(
    "404 %s on an unknown route",
    async (method) => {
      const { status, body } = await service.call(method, "/api/nothing");
      expect({ status, code: body.code }).toEqual({ status: 404, code: "not_found" });
    },
  );
});

describe("security headers", () => {
  const expected = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  };
  const expectHeaders = (headers: Headers) => {
    expect(Object.fromEntries(headers)).toMatchObject(expected);
    expect(headers.get("x-powered-by") ?? headers.get("server")).toBeNull();
    expect(headers.get("x-request-id")).toMatch(/^req_/);
  };

  it.each(refusals)("are on $code for $what", async (refusal) => {
    expectHeaders((await provoke(refusal)).headers);
  });

  it("are on success, with or without a body, and on a stream", async () => {
    expectHeaders((await service.call("GET", games)).headers);
    expectHeaders((await service.call("GET", "/healthz")).headers);
    const { body } = await service.call("POST", `/api/games/${bought.gameId}/tokens`, {
      body: { label: "x", scopes: ["leaderboards:read"] },
    });
    const gone = await service.call("DELETE", `/api/games/${bought.gameId}/tokens/${body.token.id}`);
    expect(gone.status).toBe(204);
    expectHeaders(gone.headers);
    const stream = await fetch(`${service.url}/api/games/${bought.gameId}/events/stream`, {
      headers: { authorization: `Bearer ${service.operatorToken}` },
    });
    expectHeaders(stream.headers);
    await stream.body?.cancel();
  });
});

describe("rate limits that are turned off", () => {
  it("200 without a word about limits", async () => {
    const { headers } = await service.call("GET", "/healthz");
    expect([...headers.keys()].filter((name) => name.startsWith("ratelimit"))).toEqual([]);
  });
});

describe("X-Request-Id", () => {
  const idFor = async (sent: string | null, path = "/healthz") => {
    const headers: Record<string, string> = sent === null ? {} : { "x-request-id": sent };
    return (await service.call("GET", path, { headers })).headers.get("x-request-id");
  };

  it("is made when none was sent, a new one each time", async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => idFor(null)));
    expect(new Set(ids).size).toBe(20);
    for (const id of ids) expect(id).toMatch(/^req_[0-9a-z]{26}$/);
  });

  it.each([
    "0123456789abcdef",
    "9f1c2d34-5678-4abc-9def-0123456789ab",
    "9F1C2D34-5678-4ABC-9DEF-0123456789AB",
    "A_b-C_d-1",
    "x".repeat(8),
    "x".repeat(31),
  ])("%j is kept and logged, on refusals too", async (sent) => {
    for (const path of ["/healthz", "/nothing", "/api/%zz"]) expect(await idFor(sent, path)).toBe(sent);
    await expect.poll(() => service.logLines.some((line) => JSON.parse(line).requestId === sent)).toBe(true);
  });

  it.each([
    "",
    "short",
    "x".repeat(7),
    "x".repeat(32),
    "x".repeat(36),
    "9f1c2d34-5678-4abc-9def-0123456789ab0",
    "has space in it",
    "new\tline-tab",
    "<script>alert(1)</script>",
    "../../../x",
  ])("%j is replaced", async (sent) => {
    for (const path of ["/healthz", "/nothing", "/api/%zz"]) expect(await idFor(sent, path)).toMatch(/^req_/);
  });

  it("a credential that was put there by mistake is replaced", async () => {
    for (const secret of [readToken, service.operatorToken, bought.receiptJwt.split(".")[0] ?? ""])
      expect(await idFor(secret.slice(0, 64))).toMatch(/^req_/);
  });

  it("does not tell the operator's token from a wrong guess of the same form", async () => {
    const { operatorToken } = service;
    const guess = operatorToken.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    for (const id of [operatorToken, guess]) expect(await idFor(id)).toMatch(/^req_/);
  });
});
