// The description of the API: for programs at /openapi.json, for people at /docs.
import { z } from "zod";
import { renderDocsPage } from "./docs-page.ts";
import { buildOpenApi } from "./openapi.ts";
import { type Route, route } from "./route.ts";

export function docsRoutes(described: readonly Route[], baseUrl: string): Route[] {
  const routes: Route[] = [];
  // Both are made once, on first use, and are the same for everybody.
  let document: ReturnType<typeof buildOpenApi> | undefined;
  let page: string | undefined;
  const openApi = () => {
    document ??= buildOpenApi([...described, ...routes], baseUrl);
    return document;
  };
  routes.push(
    route({
      method: "GET",
      path: "/openapi.json",
      tag: "Docs",
      summary: "This API as an OpenAPI 3.1 document",
      who: ["anyone"],
      needsDatabase: false,
      answer: { status: 200, schema: z.looseObject({ openapi: z.string() }) },
      handle: ({ reply }) => {
        reply.header("cache-control", "public, max-age=60").header("access-control-allow-origin", "*");
        return openApi();
      },
    }),
    route({
      method: "GET",
      path: "/docs",
      tag: "Docs",
      summary: "This API as a page to read",
      who: ["anyone"],
      needsDatabase: false,
      answer: { status: 200, schema: z.string(), mediaType: "text/html" },
      handle: ({ reply }) => {
        page ??= renderDocsPage(openApi());
        reply
          .header("cache-control", "public, max-age=60")
          .header(
            "content-security-policy",
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
          )
          .type("text/html; charset=utf-8");
        return page;
      },
    }),
  );
  return routes;
}
