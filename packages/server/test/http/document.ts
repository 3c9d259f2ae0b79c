// Reads the API's description the way a stranger would: from the document alone.
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { JsonSchema, OpenApi, Operation, Reference, Response } from "../../src/http/openapi-types.ts";

export interface Described {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export function operationsOf(document: OpenApi): Described[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
}

export function responseOf(document: OpenApi, response: Response | Reference): Response {
  if (!("$ref" in response)) return response;
  const found = document.components.responses[response.$ref.split("/").at(-1) ?? ""];
  if (found === undefined) throw new Error(`${response.$ref} leads nowhere`);
  return found;
}

/** The JSON Schema of a request's body, or undefined when the operation takes none. */
export function bodySchemaOf({ operation }: Described): JsonSchema | undefined {
  return operation.requestBody?.content["application/json"]?.schema;
}

/** Whether a value is legal by the document's own words. */
export function createCheck(document: OpenApi, schema: JsonSchema): (value: unknown) => boolean {
  const parser = z.fromJSONSchema(inline(document, schema) as Parameters<typeof z.fromJSONSchema>[0]);
  return (value) => parser.safeParse(value).success;
}

/** Puts what a reference stands for in its place; what is beside the reference holds as well. */
function inline(document: OpenApi, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => inline(document, item));
  if (typeof value !== "object" || value === null) return value;
  const { $ref, ...beside } = value as JsonSchema;
  const rest = Object.fromEntries(Object.entries(beside).map(([key, part]) => [key, inline(document, part)]));
  if ($ref === undefined) return rest;
  const target = inline(document, document.components.schemas[$ref.split("/").at(-1) ?? ""]);
  return Object.keys(rest).length === 0 ? target : { allOf: [target, rest] };
}

/** What the router itself would answer, as `METHOD /path/{param}`; HEAD comes with every GET. */
export function registeredRoutes(app: FastifyInstance): string[] {
  const found: string[] = [];
  const parents: string[] = [];
  for (const line of app.printRoutes({ commonPrefix: false }).split("\n")) {
    const match = /^([│├└─\s]*)(\S+)(?: \(([A-Z, -]+)\))?/.exec(line);
    if (match === null) continue;
    const [, indent = "", segment = "", methods = ""] = match;
    const depth = indent.length / 4;
    parents.length = depth;
    parents[depth] = (parents[depth - 1] ?? "") + segment;
    const path = parents[depth].replaceAll(/:(\w+)/g, "{$1}");
    for (const method of methods.split(", ")) {
      if (method !== "" && method !== "HEAD") found.push(`${method} ${path}`);
    }
  }
  return found.sort();
}
