// Sets the webhook URL of one environment. A blank one turns webhooks off and cancels what is still to be sent.
import type { Env, Webhook } from "@coinslot/contract";
import type { Clock } from "../clock.ts";
import type { Sql } from "../database/connect.ts";

export async function setWebhook(
  { sql, clock }: { sql: Sql; clock: Clock },
  gameId: string,
  env: Env,
  url: string,
): Promise<Webhook> {
  await sql.begin(async (tx) => {
    await tx`
      INSERT INTO webhook_endpoints (game_id, env, url, updated_at)
      VALUES (${gameId}, ${env}, ${url}, ${new Date(clock.nowMs())})
      ON CONFLICT (game_id, env) DO UPDATE SET url = excluded.url, updated_at = excluded.updated_at`;
    if (url === "") {
      await tx`
        UPDATE deliveries SET state = 'CANCELED', next_attempt_at = NULL
        WHERE game_id = ${gameId} AND env = ${env} AND state = 'PENDING'`;
    }
  });
  return { env, url };
}
