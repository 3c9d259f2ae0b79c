// A route as one value: method, path, who may call, schemas, answer, handler. Serving and OpenAPI both read it.
import type { ErrorCode, Scope } from "@coinslot/contract";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import type { Caller } from "./callers.ts";
import type { IdempotencyKey } from "./idempotency.ts";

/** Who may call: the operator, a player, or an access token that holds the scope. `anyone` needs no credential. */
export type Grant = "anyone" | "operator" | "player" | Scope;

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface RouteInput<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly caller: Caller;
  /** Set when the route answers 201 and the caller sent an Idempotency-Key. */
  readonly idempotency: IdempotencyKey | null;
  /** Throws when the caller's credential is no longer good; for answers that go on for long. */
  readonly recheck: () => Promise<void>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export interface RouteSpec<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> {
  readonly method: Method;
  /** Parameters in braces, as in OpenAPI: `/api/games/{gameId}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly who: readonly Grant[];
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** The answer: JSON by default; null when there is no body. */
  readonly answer: {
    readonly status: 200 | 201 | 202 | 204;
    readonly schema: Answer;
    readonly mediaType?: string;
  };
  /** Codes beyond those that follow from the rest of the value (credential, body, rate limit, outage). */
  readonly errors?: readonly ErrorCode[];
  /** False for what is answered even while the database is away. */
  readonly needsDatabase?: false;
  readonly handle: (
    input: RouteInput<z.output<Params>, z.output<Query>, z.output<Body>>,
  ) => Promise<z.input<Answer>> | z.input<Answer>;
}

/** A route whose types have been checked and may now be kept in a list with others. */
export type Route = Omit<RouteSpec, "handle"> & {
  readonly handle: (input: RouteInput<unknown, unknown, unknown>) => unknown;
};

export function route<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType>(
  spec: RouteSpec<P, Q, B, A>,
): Route {
  // The server parses with this same value's schemas before it calls the handler, so the types it forgets here hold.
  return spec as unknown as Route;
}

/** Every code a route can answer with, in the order of their statuses. */
export function errorCodesOf(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>(route.errors ?? []);
  const hasInput = route.body !== undefined || route.query !== undefined || route.params !== undefined;
  if (hasInput) codes.add("invalid_input");
  if (!route.who.includes("anyone")) {
    codes.add("unauthorized");
    codes.add("forbidden");
    if (route.path.includes("{gameId}")) codes.add("not_found");
  }
  // A body that a route has no use for is read all the same.
  if (route.method !== "GET") {
    codes.add("invalid_input");
    codes.add("payload_too_large");
    codes.add("unsupported_media_type");
  }
  if (route.answer.status === 201) codes.add("conflict");
  for (const code of ["rate_limited", "internal", "unavailable"] as const) codes.add(code);
  return [...codes];
}
