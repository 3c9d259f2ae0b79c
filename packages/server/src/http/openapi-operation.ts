// One route as an OpenAPI operation.
import { limits } from "@coinslot/contract";
import type { z } from "zod";
import { commonHeaders, type ErrorAnswers } from "./openapi-errors.ts";
import { type Components, exampleOf } from "./openapi-examples.ts";
import { glossary } from "./openapi-glossary.ts";
import { operationIdOf } from "./openapi-names.ts";
import { explain, type SchemaBook } from "./openapi-schemas.ts";
import type { JsonSchema, MediaType, Operation, Parameter, Response } from "./openapi-types.ts";
import type { Grant, Route } from "./route.ts";

export function describeOperation(route: Route, book: SchemaBook, errors: ErrorAnswers): Operation {
  const parameters = describeParameters(route, book);
  const body = route.body;
  return {
    operationId: operationIdOf(route),
    tags: [route.tag],
    summary: summaryOf(route),
    description: [route.description, whoMayCall(route.who)].filter((part) => part !== undefined).join("\n\n"),
    security: securityOf(route.who),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !body.safeParse(undefined).success,
            content: { "application/json": mediaType(book.describe(body, "input"), book.components()) },
          },
        }),
    responses: { [route.answer.status]: describeAnswer(route, book), ...errors.of(route) },
  };
}

/** An operation with several addresses says which one this is. */
function summaryOf({ path, summary }: Route): string {
  const by = /\/by-([a-z]+)\/\{/.exec(path)?.[1];
  return by === undefined ? summary : `${summary} by ${by}`;
}

function mediaType(schema: JsonSchema, components: Components): MediaType {
  return { schema, example: exampleOf(schema, components) };
}

function describeAnswer(route: Route, book: SchemaBook): Response {
  const { status, schema, mediaType: type = "application/json" } = route.answer;
  if (status === 204) return { description: "Done; there is no body.", headers: commonHeaders };
  const json = book.describe(schema, "output");
  return {
    description: status === 201 ? "Made." : "Done.",
    headers: commonHeaders,
    content: { [type]: type === "application/json" ? mediaType(json, book.components()) : { schema: json } },
  };
}

function describeParameters(route: Route, book: SchemaBook): Parameter[] {
  const parameters = [
    ...fieldsOf(route.params, book).map((field) => parameter("path", field)),
    ...fieldsOf(route.query, book).map((field) => parameter("query", field)),
  ];
  if (route.answer.status === 201) {
    parameters.push({
      name: "Idempotency-Key",
      in: "header",
      required: false,
      description:
        "Makes the request safe to repeat: for a day, the same key with the same body is answered the same and creates once.",
      schema: {
        type: "string",
        pattern: "^[\\x21-\\x7e]+$",
        minLength: 1,
        maxLength: limits.idempotencyKeyMaxChars,
      },
    });
  }
  if (route.answer.mediaType === "text/event-stream") {
    parameters.push({
      name: "Last-Event-ID",
      in: "header",
      required: false,
      description: "What an EventSource sends by itself when it reconnects. `after` wins over it.",
      schema: { type: "string" },
    });
  }
  return parameters;
}

interface Field {
  readonly name: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
}

function fieldsOf(schema: z.ZodType | undefined, book: SchemaBook): Field[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = book.describe(schema, "input");
  return Object.entries(properties).map(([name, property]) => ({
    name,
    required: required.includes(name),
    schema: explain(name, property),
  }));
}

function parameter(place: "path" | "query", { name, required, schema }: Field): Parameter {
  const { description, ...rest } = schema;
  const example = glossary[name]?.example;
  return {
    name,
    in: place,
    required,
    ...(description === undefined ? {} : { description }),
    schema: rest,
    // A filter has its example in its values; an opaque cursor of someone else's list would mislead.
    ...(place === "path" && example !== undefined ? { example } : {}),
  };
}

/** Each entry is enough by itself. The names beside a scheme are the scopes that a token needs. */
function securityOf(who: readonly Grant[]): Operation["security"] {
  return who.flatMap((grant): Operation["security"] => {
    if (grant === "anyone") return [];
    if (grant === "operator") return [{ operatorToken: [] }];
    return grant === "player" ? [{ userToken: [] }] : [{ accessToken: [grant] }];
  });
}

function whoMayCall(who: readonly Grant[]): string {
  if (who.includes("anyone")) return "Needs no credential.";
  const callers = who.map((grant) => {
    if (grant === "operator") return "the operator";
    return grant === "player" ? "a player" : `an access token with \`${grant}\``;
  });
  const last = callers.pop();
  return `Who may call: ${callers.length === 0 ? last : `${callers.join(", ")} or ${last}`}.`;
}
