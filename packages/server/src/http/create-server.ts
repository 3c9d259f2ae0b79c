// The HTTP server: what happens to every request before and after its route's handler.

import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { isIP, type Socket } from "node:net";
import { limits } from "@coinslot/contract";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Clock } from "../clock.ts";
import type { RateLimits } from "../config.ts";
import type { Ids } from "../ids.ts";
import { type Log, scrub } from "../log.ts";
import { createAdmission } from "./admission.ts";
import { type ApiError, invalidInput, notFound } from "./api-error.ts";
import { authorizeCaller, type Caller, type CallerDeps, identifyCaller, nameCaller } from "./callers.ts";
import { toApiError } from "./error-response.ts";
import { readIdempotencyKey } from "./idempotency.ts";
import { logPath } from "./log-path.ts";
import { parseInput } from "./parse-input.ts";
import { createRequestLimits, tooMany } from "./rate-limits.ts";
import type { Route } from "./route.ts";
import { securityHeaders } from "./security-headers.ts";
import { watchSockets } from "./watch-sockets.ts";

export interface HttpDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly baseUrl: string;
  readonly trustProxy: readonly string[];
  readonly rateLimits: RateLimits;
  readonly callers: CallerDeps;
  readonly gameExists: (gameId: string) => Promise<boolean>;
  readonly isDatabaseUp: () => boolean;
  /** Sees every answer before it is sent; the tests hold answers against their schemas here. */
  readonly onAnswer?: ((route: Route, answer: unknown) => void) | undefined;
}

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller;
    startedAtMs: number;
    isAdmitted: boolean;
  }
}

const anyone: Caller = { kind: "anyone" };
/** A UUID, or shorter than any credential: an id is answered and logged. */
const requestIdForm = /^([A-Za-z0-9_-]{8,31}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;
/** Each holds a socket and its buffers: past this, new ones are dropped. */
const connectionsMaxCount = 10_000;

export function createServer(deps: HttpDeps, routes: readonly Route[]): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: limits.bodyMaxBytes,
    trustProxy: deps.trustProxy.length === 0 ? false : [...deps.trustProxy],
    // Longer than any address that Node lets in: how long a name may be is the route's matter.
    routerOptions: { maxParamLength: 64 * 1024 },
    // A request on an open connection is still served while the server closes.
    return503OnClosing: false,
    forceCloseConnections: "idle",
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    // On which nothing moves in either direction. Longer than the above; streams say something every 15 s.
    connectionTimeout: 75_000,
    genReqId: (request) => requestIdOf(request) ?? deps.ids("req"),
    requestIdHeader: false,
    frameworkErrors: (_error, request, reply) => {
      reply.headers(headers).header("x-request-id", request.id);
      sendError(invalidInput("The address could not be read."), reply);
    },
    clientErrorHandler: (error, socket) => refuseBroken(error, socket),
    // Node would refuse a request without Host by itself, with an empty body: the hook below says why.
    http: { requireHostHeader: false },
  });
  app.server.maxConnections = connectionsMaxCount;
  const sockets = watchSockets(app.server, { clock: deps.clock });
  const refuseBroken = (error: Error & { code?: string }, socket: Socket): void => {
    // Written now, a refusal would be read as the answer to a request that came before, and may have committed.
    if (error.code === "ECONNRESET" || !socket.writable || sockets.owesAnswer(socket)) socket.destroy();
    else answerBrokenRequest(socket);
  };
  // The same for an Expect that nobody can meet.
  app.server.on("checkExpectation", (request: IncomingMessage) =>
    refuseBroken(new Error("Expectation"), request.socket),
  );
  const headers = securityHeaders(deps.baseUrl);
  const requestLimits = createRequestLimits(deps.rateLimits, deps.clock);

  const admission = createAdmission(deps.isDatabaseUp);
  app.decorateRequest("startedAtMs", 0);
  app.decorateRequest("isAdmitted", false);
  app.decorateRequest("caller");
  app.removeAllContentTypeParsers();
  // `__proto__` and the like are unknown fields, and unknown fields are ignored.
  const parseJson = app.getDefaultJsonParser("remove", "remove");
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    // No body at all is the schema's matter: some routes do without one.
    if (body.length === 0) done(null, undefined);
    // Decoding would put a replacement character in the place of what is not UTF-8, and store it.
    else if (!isUtf8(body as Buffer)) done(invalidInput("The body is not valid UTF-8."));
    else parseJson(request, body.toString(), done);
  });

  app.addHook("onRequest", async (request, reply) => {
    request.startedAtMs = deps.clock.nowMs();
    request.caller = anyone;
    reply.headers(headers).header("x-request-id", request.id);
    requestLimits.takeAddress(addressOf(request), reply);
    const hosts = countHosts(request.raw);
    if (hosts === 0 && request.raw.httpVersion === "1.1") throw invalidInput("Send a Host header.", "Host");
    // A proxy in front may have gone by the other one.
    if (hosts > 1) throw invalidInput("Send one Host header.", "Host");
  });
  // Kept alive, a connection that was busy when the server began to close would hold the close up until it times out.
  let closing = false;
  app.addHook("preClose", (done) => {
    closing = true;
    done();
  });
  app.addHook("onSend", (_request, reply, payload, done) => {
    if (closing) reply.header("connection", "close");
    done(null, payload);
  });
  app.addHook("onResponse", async (request, reply) => {
    if (request.isAdmitted) admission.leave();
    if (closing) setImmediate(() => app.server.closeIdleConnections());
    deps.log.info(
      {
        requestId: request.id,
        method: request.method,
        path: logPath(request.url),
        status: reply.statusCode,
        ms: deps.clock.nowMs() - request.startedAtMs,
        caller: nameCaller(request.caller),
      },
      "request",
    );
  });
  app.setErrorHandler((error, request, reply) => {
    // The error is about the client's connection, though it has the code of a lost one to the database.
    if (leftEarly(request)) {
      deps.log.debug({ requestId: request.id }, "A client left in the middle of its request");
      return;
    }
    let apiError = toApiError(error);
    if (apiError.code === "internal")
      deps.log.error({ err: error, requestId: request.id }, "A request failed");
    if (apiError.code === "unavailable")
      deps.log.warn({ err: error, requestId: request.id }, "A request was turned away");
    if (apiError.code === "unauthorized" && !requestLimits.takeFailure(addressOf(request)))
      apiError = tooMany(1);
    sendError(apiError, reply);
  });
  app.setNotFoundHandler((request, reply) => {
    // Where people look first.
    if (request.url === "/" && request.method === "GET") reply.redirect("/docs", 302);
    else sendError(notFound("There is nothing at this address. GET /docs lists what there is."), reply);
  });

  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.path.replaceAll(/\{(\w+)\}/g, ":$1"),
      // HEAD of a stream would be one more stream, open for ever and without a word.
      exposeHeadRoute: route.answer.mediaType !== "text/event-stream",
      onRequest: async (request, reply) => {
        if (route.needsDatabase !== false) {
          admission.enter();
          request.isAdmitted = true;
        }
        if (route.who.includes("anyone")) return;
        request.caller = await identifyCaller(deps.callers, request.headers.authorization);
        requestLimits.takeCredential(nameCaller(request.caller), reply);
        authorizeCaller(request.caller, route.who, gameIdOf(request));
      },
      handler: (request, reply) => serve(deps, route, request, reply),
    });
  }
  return app;
}

/** Credential first (before this), then body and query, then whether the game exists, then the use-case. */
async function serve(
  deps: HttpDeps,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const body = route.body ? parseInput(route.body, request.body, "body") : undefined;
  const query = route.query ? parseInput(route.query, request.query, "query") : undefined;
  const params = route.params ? parsePath(route.params, request.params) : undefined;
  const gameId = gameIdOf(request);
  const { caller } = request;
  if (caller.kind === "operator" && gameId !== undefined && !(await deps.gameExists(gameId))) {
    throw notFound("There is no such game.");
  }
  const idempotency =
    route.answer.status === 201
      ? readIdempotencyKey(request.headers["idempotency-key"], {
          gameId: gameId ?? "",
          operation: `${route.method} ${route.path}`,
          caller: nameCaller(caller),
          input: [params, body],
        })
      : null;
  const recheck = async (): Promise<void> => {
    const now = await identifyCaller(deps.callers, request.headers.authorization);
    authorizeCaller(now, route.who, gameId);
  };
  const answer = await route.handle({ params, query, body, caller, idempotency, recheck, request, reply });
  if (reply.sent) return reply;
  deps.onAnswer?.(route, answer);
  reply.status(route.answer.status);
  return route.answer.status === 204 ? reply.send() : answer;
}

/** A path that no resource can have is a path to nothing. */
function parsePath(schema: NonNullable<Route["params"]>, params: unknown): unknown {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const reason =
    issue?.code === "invalid_value" ? ` ${issue.path.join()} must be one of ${issue.values.join(", ")}.` : "";
  throw notFound(`There is nothing at this address.${reason}`);
}

function gameIdOf(request: FastifyRequest): string | undefined {
  // The router fills params with strings under the names in the path.
  return (request.params as Partial<Record<string, string>>)["gameId"];
}

/** The caller's own id, unless it is junk, or a credential that was sent in the wrong header. */
function requestIdOf(request: { headers: IncomingMessage["headers"] }): string | null {
  const id = request.headers["x-request-id"];
  return typeof id === "string" && requestIdForm.test(id) && scrub(id) === id ? id : null;
}

/** What a proxy passes on need not be an address: each piece of junk would have a limit of its own. */
function addressOf(request: FastifyRequest): string {
  return isIP(request.ip) === 0 ? (request.socket.remoteAddress ?? "") : request.ip;
}

function countHosts({ rawHeaders }: IncomingMessage): number {
  // Names and values take turns.
  return rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host").length;
}

/** Before all of the request had come, so that no handler has run: what fails later is the service's own matter. */
function leftEarly(request: FastifyRequest): boolean {
  return request.socket.destroyed && !request.raw.complete;
}

function sendError(error: ApiError, reply: FastifyReply): void {
  if (error.retryAfterS !== undefined) reply.header("retry-after", error.retryAfterS);
  if (error.code === "unauthorized") reply.header("www-authenticate", "Bearer");
  void reply.status(error.httpStatus).send(error.toBody());
}

/** What cannot even be read as HTTP is answered on the bare socket. */
function answerBrokenRequest(socket: Socket): void {
  const body = JSON.stringify(invalidInput("The request could not be read as HTTP.").toBody());
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
