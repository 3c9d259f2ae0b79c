// The description of the API is whole, valid and true: for programs at /openapi.json, for people at /docs.
import { errorStatuses } from "@coinslot/contract";
import { Validator } from "@seriousme/openapi-schema-validator";
import Fastify from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildOpenApi } from "../../src/http/openapi.ts";
import type { JsonSchema, OpenApi } from "../../src/http/openapi-types.ts";
import { errorCodesOf } from "../../src/http/route.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createCheck, operationsOf, registeredRoutes, responseOf } from "./document.ts";

let service: TestService;
let document: OpenApi;
let text: string;
beforeAll(async () => {
  service = await startTestService();
  const answer = await fetch(`${service.url}/openapi.json`);
  text = await answer.text();
  document = JSON.parse(text);
});
afterAll(() => service.stop());

describe("completeness", () => {
  test("every route that the server answers is in the document, and no other", () => {
    const described = operationsOf(document).map(({ method, path }) => `${method} ${path}`);
    expect(registeredRoutes(service.app.http)).toEqual(described.sort());
  });

  test("a route registered past the list would be noticed", async () => {
    const app = Fastify();
    app.get("/api/games", () => "");
    app.post("/api/games/:gameId/secret/:name", () => "");
    app.delete("/api/games/:gameId", () => "");
    await app.ready();
    expect(registeredRoutes(app)).toEqual([
      "DELETE /api/games/{gameId}",
      "GET /api/games",
      "POST /api/games/{gameId}/secret/{name}",
    ]);
  });

  test("every operation documents each error code it can answer, under its status", () => {
    for (const route of service.app.routes) {
      const operation = document.paths[route.path]?.[route.method.toLowerCase()];
      for (const code of errorCodesOf(route)) {
        const response = responseOf(document, operation?.responses[errorStatuses[code]] ?? { $ref: "none" });
        const schema = response.content?.["application/json"]?.schema;
        expect(schema?.$ref).toBe("#/components/schemas/Error");
        expect(schema?.properties?.["code"]?.enum, `${route.path} ${code}`).toContain(code);
        expect(response.description).toContain(`\`${code}\``);
      }
    }
  });

  test("every tag, parameter and field says what it is", () => {
    for (const tag of document.tags) expect(tag.description, tag.name).toMatch(/\.$/);
    const missing: string[] = [];
    const look = (at: string, schema: JsonSchema): void => {
      for (const [name, property] of Object.entries(schema.properties ?? {})) {
        const said = property.description !== undefined || property.$ref !== undefined;
        if (!said && schema.$ref === undefined) missing.push(`${at}.${name}`);
        look(`${at}.${name}`, property);
      }
      if (schema.items !== undefined) look(`${at}[]`, schema.items);
    };
    for (const [name, schema] of Object.entries(document.components.schemas)) look(name, schema);
    for (const { operation } of operationsOf(document)) {
      for (const parameter of operation.parameters ?? []) {
        if (parameter.description === undefined) missing.push(`${operation.operationId} ${parameter.name}`);
      }
      for (const { content } of Object.values(operation.responses).map((one) => responseOf(document, one))) {
        look(operation.operationId, content?.["application/json"]?.schema ?? {});
      }
    }
    // Say it with .describe() on the schema, or in openapi-glossary.ts.
    expect(missing).toEqual([]);
  });
});

describe("form", () => {
  test("the document is valid OpenAPI 3.1 by an independent validator", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(JSON.parse(text));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(validator.version).toBe("3.1");
  });

  test("operation ids are unique words, and every path parameter is described", () => {
    const operations = operationsOf(document);
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z0-9]+$/);
    for (const { path, operation } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const described = (operation.parameters ?? []).filter((one) => one.in === "path");
      expect(described.map((one) => one.name).sort(), path).toEqual(inPath.sort());
      expect(described.every((one) => one.required)).toBe(true);
    }
  });

  test("it is the same, byte for byte, each time it is made", () => {
    const again = buildOpenApi(service.app.routes, "http://localhost:4000");
    expect(JSON.stringify(again)).toBe(text);
  });

  test("it holds no trace of the inside", async () => {
    const names = await service.database.sql<{ name: string }[]>`
      SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'
      UNION SELECT column_name FROM information_schema.columns WHERE table_schema = 'public'`;
    const page = await (await fetch(`${service.url}/docs`)).text();
    for (const inside of [
      ...names.map(({ name }) => name).filter((name) => name.includes("_")),
      ...[service.operatorToken, "postgres", "$schema", "$defs", "~standard", "zod", "undefined", "[object"],
    ]) {
      expect(text).not.toContain(inside);
      expect(page).not.toContain(inside);
    }
  });
});

describe("examples", () => {
  test("every example is legal by the schema beside it", () => {
    let count = 0;
    for (const { operation } of operationsOf(document)) {
      const contents = [
        operation.requestBody?.content,
        ...Object.values(operation.responses).map((one) => responseOf(document, one).content),
      ];
      for (const media of contents.flatMap((content) => Object.values(content ?? {}))) {
        if (media.example === undefined) continue;
        count++;
        const isLegal = createCheck(document, media.schema)(media.example);
        expect(isLegal, `${operation.operationId}: ${JSON.stringify(media.example)}`).toBe(true);
      }
      for (const { name, schema, example } of operation.parameters ?? []) {
        if (example !== undefined) expect(createCheck(document, schema)(example), name).toBe(true);
      }
    }
    expect(count).toBeGreaterThan(100);
  });

  test("every example passes the schema that the service itself parses with", () => {
    for (const { body, path, method, answer } of service.app.routes) {
      const operation = document.paths[path]?.[method.toLowerCase()];
      const sent = operation?.requestBody?.content["application/json"]?.example;
      if (body !== undefined) expect(body.safeParse(sent).error, `${method} ${path}`).toBeUndefined();
      const shown = responseOf(document, operation?.responses[answer.status] ?? { $ref: "none" });
      const example = shown.content?.["application/json"]?.example;
      if (example !== undefined) expect(answer.schema.safeParse(example).error, path).toBeUndefined();
    }
  });
});

describe("the page", () => {
  let page: string;
  let headers: Headers;
  beforeAll(async () => {
    const answer = await fetch(`${service.url}/docs`);
    headers = answer.headers;
    page = await answer.text();
  });

  test("shows every operation with its address", () => {
    const plain = page.replaceAll("<wbr>", "");
    for (const { method, path, operation } of operationsOf(document)) {
      expect(page).toContain(`id="${operation.operationId}"`);
      expect(page).toContain(`href="#${operation.operationId}"`);
      expect(plain).toContain(`${method}</span> <code>${path}</code>`);
    }
  });

  test("is balanced HTML whose ids are unique and whose links lead somewhere", () => {
    const open: string[] = [];
    const body = page.replace(/<style>[\s\S]*?<\/style>/, "");
    for (const [, slash, tag = ""] of body.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/g)) {
      if (["meta", "wbr"].includes(tag)) continue;
      if (slash === "") open.push(tag);
      else expect(open.pop()).toBe(tag);
    }
    expect(open).toEqual([]);
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, target] of page.matchAll(/ href="#([^"]*)"/g)) expect(ids).toContain(target);
  });

  test("runs no script and asks no other place for anything", () => {
    expect(page).not.toMatch(/<script|<link|<img|<iframe|javascript:|\son\w+=|@import|url\(/i);
    const targets = [...page.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(([, target]) => target ?? "");
    expect(targets.filter((target) => !target.startsWith("#"))).toEqual(["/openapi.json"]);
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
  });
});
