// Throws generated junk at every operation of the API's own description. Whatever comes in: no 5xx, an error of the
// documented shape and status, and not one row changed. A failure prints the seed and the smallest case that fails.
import { limits } from "@coinslot/contract";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OpenApi } from "../../src/http/openapi-types.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { bodySchemaOf, createCheck, type Described, operationsOf } from "./document.ts";
import * as junk from "./junk-values.ts";
import {
  bodyOf,
  createFingerprint,
  createWorld,
  credentialsOf,
  goodRequest,
  pathOf,
  readDocument,
  renewUserToken,
  spoilCredentials,
  type World,
} from "./junk-world.ts";
import { type RawRequest, sendRequest } from "./raw-request.ts";
import { type Junk, type Outcome, type Range, throwJunk } from "./throw-junk.ts";

let service: TestService;
let document: OpenApi;
let operations: Described[];
let world: World;
let spoiled: readonly string[];
let range: Range;

beforeAll(async () => {
  service = await startTestService();
  document = await readDocument(service);
  operations = operationsOf(document);
  world = await createWorld(service);
  spoiled = await spoilCredentials(service, world);
  // Hours have passed in there.
  world = await renewUserToken(service, world);
  range = { url: service.url, operations, fingerprint: await createFingerprint(service) };
});
afterAll(() => service.stop());

const refused = (request: RawRequest): Junk => [request, "refused"];

/** The good request with another body, or with other headers in front of its own. */
function withBody(target: Described, body: string | Buffer): RawRequest {
  return { ...goodRequest(world, target), body };
}

describe("bodies", () => {
  test("that are not JSON are refused", () =>
    throwJunk(range, (target) => {
      const body = bodyOf(world, target);
      if (body === undefined) return null;
      return junk.notJson(JSON.stringify(body)).map((text) => refused(withBody(target, text)));
    }));

  test("that are not UTF-8 are refused", () =>
    throwJunk(range, (target) => {
      const body = bodyOf(world, target);
      if (body === undefined) return null;
      const text = JSON.stringify({ ...body, more: "~" });
      return fc
        .constantFrom([0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf5, 0x80, 0x80, 0x80])
        .map((bytes) => {
          const at = text.indexOf("~");
          const parts = [Buffer.from(text.slice(0, at)), Buffer.from(bytes), Buffer.from(text.slice(at + 1))];
          return refused(withBody(target, Buffer.concat(parts)));
        });
    }));

  test("with a value that the document does not allow are refused", () =>
    throwJunk(range, (target) => {
      const schema = bodySchemaOf(target);
      const body = bodyOf(world, target);
      if (schema === undefined || body === undefined) return null;
      const isLegal = createCheck(document, schema);
      return junk
        .mutate(body)
        .filter((text) => !isLegal(JSON.parse(text)))
        .map((text) => refused(withBody(target, text)));
    }));

  test("with text that cannot be stored are refused", () =>
    throwJunk(range, (target) => {
      const body = bodyOf(world, target);
      const places = Object.entries(body ?? {}).filter(([, value]) => typeof value === "string");
      if (body === undefined || places.length === 0) return null;
      return fc
        .tuple(fc.constantFrom(...places), junk.unstorableText)
        .map(([[name], text]) => refused(withBody(target, JSON.stringify({ ...body, [name]: text }))));
    }));

  test("of another type, or too large, or missing, are refused", () =>
    throwJunk(range, (target) => {
      if (target.method === "GET") return null;
      const good = goodRequest(world, target);
      const headers = good.headers.filter(([name]) => name !== "Content-Type");
      const { body = "{}", ...bare } = good;
      const required = target.operation.requestBody?.required === true;
      const large = `{"more":"${"x".repeat(limits.bodyMaxBytes)}"}`;
      return fc.oneof(
        junk.junkContentType.map((type) =>
          refused({ ...bare, headers: [...headers, ["Content-Type", type]], body }),
        ),
        fc.constant(refused({ ...bare, headers, body })),
        fc.constant(
          refused({ ...bare, headers: [...headers, ["Content-Type", "application/json"]], body: large }),
        ),
        ...(required ? [fc.constant(refused(bare)), fc.constant(refused({ ...bare, headers }))] : []),
      );
    }));
});

describe("addresses", () => {
  test("with junk in the place of a name lead nowhere", () =>
    throwJunk(range, (target) => {
      const names = [...target.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
      const [first] = names;
      if (first === undefined) return null;
      // These two take any name: a player is whoever the operator says, and nobody owns what does not exist.
      const takesAny = ["createPlayerToken", "getMyEntitlement"].includes(target.operation.operationId);
      return fc.tuple(fc.subarray(names, { minLength: 1 }), junk.junkSegment).map(
        ([chosen, segment]): Junk => [
          {
            ...goodRequest(world, target),
            path: pathOf(world, target, Object.fromEntries(chosen.map((name) => [name, segment]))),
          },
          takesAny && !chosen.includes("gameId") ? "any" : "refused",
        ],
      );
    }));

  test("with junk in the query are refused, or the junk is ignored", () =>
    throwJunk(range, (target) => {
      const good = goodRequest(world, target);
      const query = (target.operation.parameters ?? []).filter((one) => one.in === "query");
      if (target.method !== "GET") return null;
      const to = (search: string, outcome: Outcome): Junk => [
        { ...good, path: `${good.path}?${search}` },
        outcome,
      ];
      const noise = fc
        .oneof(
          fc.stringMatching(/^[!-~]{0,60}$/),
          junk.junkText.map((text) => encodeURIComponent(text.toWellFormed())),
        )
        .map((text) => to(text.replaceAll("#", ""), "any"));
      if (query.length === 0) return noise;
      const illegal = query.map(({ name, schema }) => {
        const isLegal = createCheck(document, schema);
        // A number in an address is its digits; and no text outside of ASCII is legal in any of these.
        const values = junk.junkText
          .map((text) => text.toWellFormed())
          .filter((text) =>
            schema.type === "integer" ? !/^\d{1,6}$/.test(text) || !isLegal(Number(text)) : !isLegal(text),
          );
        const known = name === "cursor" ? fc.constantFrom("!", "a b", "YQ==", "%00", "\u00e9", "YR") : values;
        return known.map((text) => to(`${name}=${encodeURIComponent(text)}`, "refused"));
      });
      const twice = fc.constantFrom(...query).map(({ name }) => to(`${name}=1&${name}=1`, "refused"));
      const hasFreeText = (name: string) => name === "cursor" || name === "limit";
      const tooLong = fc
        .constantFrom(...query.filter(({ name }) => hasFreeText(name)), ...query)
        .map(({ name }) => to(`${name}=${"9".repeat(5_000)}`, "refused"));
      return fc.oneof(noise, twice, tooLong, ...illegal);
    }));
});

describe("headers", () => {
  test("no junk credential, nor one of another game or time, opens anything", () =>
    throwJunk(range, (target) => {
      if (target.operation.security.length === 0) return null;
      const good = goodRequest(world, target);
      const headers = good.headers.filter(([name]) => name !== "Authorization");
      const tampered = fc
        .tuple(
          fc.constantFrom(...credentialsOf(world, target)),
          fc.nat(),
          fc.constantFrom("", "A", "b", ".", "-"),
        )
        .filter(([token, at, to]) => token[at % token.length] !== to)
        .map(
          ([token, at, to]) => token.slice(0, at % token.length) + to + token.slice((at % token.length) + 1),
        )
        // The last character of a signature may hold bits that mean nothing.
        .filter(
          (token) => !credentialsOf(world, target).some((good) => good.slice(0, -1) === token.slice(0, -1)),
        );
      const wrongKind = Object.values(world.good).filter(
        (one) => !credentialsOf(world, target).includes(one),
      );
      return fc
        .oneof(
          junk.junkCredential,
          tampered.map((token) => `Bearer ${token}`),
          fc.constantFrom(...spoiled, ...wrongKind).map((token) => `Bearer ${token}`),
          fc.constant(null),
        )
        .map((value) =>
          refused({ ...good, headers: value === null ? headers : [...headers, ["Authorization", value]] }),
        );
    }));

  test("no junk receipt fulfils anything", () =>
    throwJunk(range, (target) => {
      const body = bodyOf(world, target);
      if (body === undefined || !("receiptJwt" in body)) return null;
      const { receiptJwt } = world;
      const others = fc.constantFrom(...spoiled.filter((one) => one !== receiptJwt), "x".repeat(9_000));
      const cut = fc.nat({ max: receiptJwt.length - 2 }).map((length) => receiptJwt.slice(0, length));
      return fc
        .oneof(junk.jwtLike, junk.junkText, others, cut)
        .map((text) => refused(withBody(target, JSON.stringify({ ...body, receiptJwt: text }))));
    }));

  test("a junk Idempotency-Key creates nothing", () =>
    throwJunk(range, (target) => {
      if (target.operation.responses["201"] === undefined) return null;
      const good = goodRequest(world, target);
      return junk.junkIdempotencyKey.map((key) =>
        refused({ ...good, headers: [...good.headers, ["Idempotency-Key", key]] }),
      );
    }));

  test("a junk Last-Event-ID is refused", () =>
    throwJunk(range, (target) => {
      if (!target.operation.parameters?.some(({ name }) => name === "Last-Event-ID")) return null;
      const good = goodRequest(world, target);
      return fc
        .oneof(fc.stringMatching(/^[!-~]{1,60}$/), fc.constantFrom("evt_", "evt_\u00e9", "e".repeat(5_000)))
        .filter((id) => !/^evt_[0-9a-z]+$/.test(id))
        .map((id) => refused({ ...good, headers: [...good.headers, ["Last-Event-ID", id]] }));
    }));
});

describe("afterwards", () => {
  test("no junk was taken for a fault of the service, and no secret of a good caller was logged", () => {
    const lines = service.logLines.join("");
    expect(service.logLines.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
    for (const secret of [...Object.values(world.good), world.receiptJwt])
      expect(lines).not.toContain(secret);
  });

  test("the requests that the junk was made from do succeed, each as its example says", async () => {
    const succeed = async (target: Described): Promise<void> => {
      // A world of its own for what changes something, so that no operation spoils it for another.
      const fresh = target.method === "GET" ? world : await createWorld(service);
      const answer = await sendRequest(service.url, goodRequest(fresh, target));
      const about = `${target.method} ${target.path}: ${answer.body.slice(0, 200)}`;
      expect(String(answer.status), about).toBe(Object.keys(target.operation.responses)[0]);
    };
    await Promise.all(operations.map(succeed));
  });
});
