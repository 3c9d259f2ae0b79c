// The errors that an operation can answer, each with its meaning and headers.
import { type ErrorCode, errorBody, errorStatuses } from "@coinslot/contract";
import type { SchemaBook } from "./openapi-schemas.ts";
import type { Header, Reference, Response } from "./openapi-types.ts";
import { errorCodesOf, type Route } from "./route.ts";

const meanings: Readonly<Record<ErrorCode, string>> = {
  invalid_input: "The body, query or a header is malformed, or a value is not allowed; nothing was changed.",
  unauthorized: "The credential is missing, wrong, expired or revoked.",
  forbidden: "The credential is good, but not for this game or this operation.",
  not_found: "There is no such thing, or none that the caller may know of.",
  conflict: "It exists already, a limit is reached, or the Idempotency-Key was used for another request.",
  payload_too_large: "The body is larger than the service accepts.",
  unsupported_media_type: "The body was not sent as `application/json`.",
  rate_limited: "Too many requests: wait for the seconds in `Retry-After`.",
  internal: "Something went wrong on the service's side; its request id helps to find out what.",
  unavailable: "The service is overloaded, stopping or without its database: try again shortly.",
};

const sentences: Readonly<Record<ErrorCode, string>> = {
  invalid_input: "title: is required.",
  unauthorized: "The credential is not valid, or has expired.",
  forbidden: "The credential is not for this game.",
  not_found: "There is nothing at this address.",
  conflict: "This Idempotency-Key was already used for another request. Use a new key for a new request.",
  payload_too_large: "The body is too large.",
  unsupported_media_type: "Send the body as JSON with Content-Type: application/json.",
  rate_limited: "Too many requests. Try again in 1 s.",
  internal: "Something went wrong on our side. The request id helps us find out what.",
  unavailable: "The service is overloaded. Try again shortly.",
};

export const headerComponents: Readonly<Record<string, Header>> = {
  RateLimit: {
    description: "What is left of the tighter limit: `r` requests, fully restored in `t` seconds.",
    schema: { type: "string" },
  },
  "RateLimit-Policy": {
    description: "The limit itself: `q` requests in `w` seconds.",
    schema: { type: "string" },
  },
  "Retry-After": { description: "How many seconds to wait.", schema: { type: "integer", minimum: 1 } },
  "WWW-Authenticate": { description: "How to authenticate: `Bearer`.", schema: { type: "string" } },
  "X-Request-Id": {
    description: "The request's id in the service's logs. Sent by the caller, it is kept.",
    schema: { type: "string" },
  },
};

export const commonHeaders = headers("X-Request-Id", "RateLimit", "RateLimit-Policy");

const extraHeaders: Partial<Record<ErrorCode, Readonly<Record<string, Reference>>>> = {
  unauthorized: headers("WWW-Authenticate"),
  rate_limited: headers("Retry-After"),
  unavailable: headers("Retry-After"),
};

function headers(...names: readonly string[]): Readonly<Record<string, Reference>> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

export interface ErrorAnswers {
  /** By status; codes that share one are told together. */
  of(route: Route): Record<string, Reference>;
  components(): Record<string, Response>;
}

export function createErrorAnswers(book: SchemaBook): ErrorAnswers {
  const found = new Map<string, Response>();
  const refer = (codes: readonly ErrorCode[]): Reference => {
    const name = codes.map(nameOf).join("Or");
    if (!found.has(name)) found.set(name, describeErrors(codes, book));
    return { $ref: `#/components/responses/${name}` };
  };
  return {
    of: (route) => {
      const codes = errorCodesOf(route);
      const statuses = [...new Set(codes.map((code) => errorStatuses[code]))].sort((a, b) => a - b);
      return Object.fromEntries(
        statuses.map((status) => [status, refer(codes.filter((code) => errorStatuses[code] === status))]),
      );
    },
    components: () => Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** `not_found` is `NotFound`. */
function nameOf(code: ErrorCode): string {
  return code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function describeErrors(codes: readonly ErrorCode[], book: SchemaBook): Response {
  const [first = "internal"] = codes;
  return {
    description: codes.map((code) => `\`${code}\`: ${meanings[code]}`).join(" "),
    headers: Object.assign({}, commonHeaders, ...codes.map((code) => extraHeaders[code] ?? {})),
    content: {
      "application/json": {
        schema: { ...book.describe(errorBody, "output"), properties: { code: { enum: [...codes] } } },
        example: { error: sentences[first], code: first },
      },
    },
  };
}
