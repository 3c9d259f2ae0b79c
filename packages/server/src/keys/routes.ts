// The published key set, where every receiver fetches it.
import { jwksPath, limits } from "@coinslot/contract";
import { z } from "zod";
import { type Route, route } from "../http/route.ts";
import type { Keyring } from "./keyring.ts";

const publicJwk = z.object({
  kty: z.string(),
  n: z.string(),
  e: z.string(),
  kid: z.string(),
  alg: z.string(),
  use: z.string(),
});

export function keyRoutes({ keyring, authUrl }: { keyring: Keyring; authUrl: string }): Route[] {
  // An issuer address with a path publishes below that path; the plain address works behind any proxy.
  const paths = new Set([jwksPath, new URL(authUrl).pathname.replace(/\/+$/, "") + jwksPath]);
  return [...paths].map((path) =>
    route({
      method: "GET",
      path,
      tag: "Keys",
      summary: "The keys that receipts verify against",
      description: "A key is in the set before it first signs, and stays for ever unless it is revoked.",
      who: ["anyone"],
      needsDatabase: false,
      answer: { status: 200, schema: z.object({ keys: z.array(publicJwk) }) },
      handle: ({ reply }) => {
        reply.headers({
          "cache-control": `public, max-age=${limits.jwksMaxAgeMs / 1000}`,
          "access-control-allow-origin": "*",
          "cross-origin-resource-policy": "cross-origin",
        });
        return keyring.jwks();
      },
    }),
  );
}
