// Whether the process lives, and whether it should be sent requests.
import { z } from "zod";
import type { Sql } from "../database/connect.ts";
import { ApiError } from "./api-error.ts";
import { type Route, route } from "./route.ts";

const readyTimeoutMs = 2_000;
const ok = z.object({ status: z.literal("ok").describe("Always `ok`: anything else is an error.") });

export interface HealthDeps {
  readonly sql: Sql;
  readonly stopping: AbortSignal;
  readonly isDatabaseUp: () => boolean;
}

export function healthRoutes({ sql, stopping, isDatabaseUp }: HealthDeps): Route[] {
  return [
    route({
      method: "GET",
      path: "/healthz",
      tag: "Health",
      summary: "Whether the process lives",
      who: ["anyone"],
      answer: { status: 200, schema: ok },
      needsDatabase: false,
      handle: () => ({ status: "ok" as const }),
    }),
    route({
      method: "GET",
      path: "/readyz",
      tag: "Health",
      summary: "Whether the process can serve: it is not stopping, and its database answers",
      who: ["anyone"],
      answer: { status: 200, schema: ok },
      needsDatabase: false,
      handle: async () => {
        if (stopping.aborted) throw new ApiError("unavailable", "The service is stopping.");
        // What is not let in is not ready, even if this very question were answered.
        if (!isDatabaseUp()) throw new ApiError("unavailable", "The database does not answer.");
        let timer: NodeJS.Timeout | undefined;
        const late = new Promise<never>((_, reject) => {
          timer = setTimeout(
            () => reject(new ApiError("unavailable", "The database does not answer.")),
            readyTimeoutMs,
          );
        });
        try {
          await Promise.race([sql`SELECT 1`, late]);
          return { status: "ok" as const };
        } catch {
          // Whatever is wrong with the database, a fault of the request it is not.
          throw new ApiError("unavailable", "The database does not answer.");
        } finally {
          clearTimeout(timer);
        }
      },
    }),
  ];
}
