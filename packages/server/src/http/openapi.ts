// The OpenAPI 3.1 document, made from the routes and the schemas that validate.
import { accessTokenScopes, limits, type Scope } from "@coinslot/contract";
import { createErrorAnswers, headerComponents } from "./openapi-errors.ts";
import { tagMeanings } from "./openapi-glossary.ts";
import { describeOperation } from "./openapi-operation.ts";
import { createSchemaBook } from "./openapi-schemas.ts";
import type { OpenApi, Operation, SecurityScheme } from "./openapi-types.ts";
import type { Route } from "./route.ts";

export function buildOpenApi(routes: readonly Route[], baseUrl: string): OpenApi {
  const book = createSchemaBook();
  const errors = createErrorAnswers(book);
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    const operations = paths[route.path] ?? {};
    operations[route.method.toLowerCase()] = describeOperation(route, book, errors);
    paths[route.path] = operations;
  }
  return {
    openapi: "3.1.1",
    info: { title: "Coinslot API", version: "1", description: introduction },
    servers: [{ url: baseUrl }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => {
      const description = tagMeanings[name];
      return { name, ...(description === undefined ? {} : { description }) };
    }),
    paths,
    components: {
      securitySchemes,
      headers: headerComponents,
      responses: errors.components(),
      schemas: book.components(),
    },
  };
}

const introduction = [
  "The backend of a game's commerce: it records purchases, signs a receipt for each, lets the game grant it exactly " +
    "once, and keeps leaderboards.",
  "Bodies are JSON in UTF-8, sent as `application/json`, of at most " +
    `${limits.bodyMaxBytes / 1024} KiB. Unknown fields in a body are ignored; types are exact, so \`"1"\` is not a number. ` +
    "Times are ISO 8601 in UTC. Answers may gain fields.",
  "Lists come a page at a time: `limit` items (1 to " +
    `${limits.pageMaxCount}), and \`nextCursor\` to send back as \`cursor\` for the next page. It is null on the last one.`,
  "Every error has the same body: `error`, a sentence for a person; `code`, to branch on; and `field`, where one field " +
    "is at fault. A refused request changes nothing.",
  "A `POST` that creates takes an `Idempotency-Key` header: sent again with the same key and body within a day, it " +
    "creates nothing more and is answered as before; with another body it is a `conflict`.",
  "Every answer carries `X-Request-Id` and, where a limit applies, `RateLimit` and `RateLimit-Policy`.",
].join("\n\n");

const scopeMeanings: Readonly<Record<Scope, string>> = {
  "leaderboards:read": "read leaderboards",
  "leaderboards:write": "create leaderboards and change their settings",
  "scores:write": "submit scores",
  "catalog:write": "read and change the catalog",
  "purchases:read": "read purchases and the events feed",
  "webhooks:read": "read webhook settings and deliveries",
  "webhooks:write": "read both, change the settings and resend deliveries",
};

const securitySchemes: Readonly<Record<string, SecurityScheme>> = {
  operatorToken: {
    type: "http",
    scheme: "bearer",
    description:
      "The operator token of the installation: good for every game, for all but a player's own calls.",
  },
  accessToken: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "cst_…",
    description: [
      "An access token of one game, for its servers. An operation needs one of the scopes named beside it:",
      ...accessTokenScopes.map((scope) => `- \`${scope}\`: ${scopeMeanings[scope]}`),
    ].join("\n"),
  },
  userToken: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description:
      "The user token of one player in one environment of one game, for the game client. Good for about an hour.",
  },
};
