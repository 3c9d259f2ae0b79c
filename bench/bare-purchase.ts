// The least that recording a purchase takes: jose signs the receipt, one statement with the three INSERTs, the answer.
import { randomUUID } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { SignJWT } from "jose";
import type { BareDeps } from "./bare-fulfill.ts";

interface Body {
  readonly userId: string;
  readonly contentIdentifier: string;
  readonly env: string;
}

export function barePurchase(http: FastifyInstance, { sql, keyring, authUrl }: BareDeps): void {
  const { kid, privateKey } = keyring.active();
  // Counted in the process: the least possible, and right only while nobody else writes to the game.
  let position = 0;
  http.post<{ Params: { gameId: string }; Body: Body }>(
    "/api/games/:gameId/purchases",
    async (request, reply) => {
      const { gameId } = request.params;
      const { userId, contentIdentifier, env } = request.body;
      const [purchaseId, eventId, now] = [randomUUID(), randomUUID(), new Date()];
      const purchasedAt = now.toISOString();
      const facts = { env, purchaseId, contentIdentifier, source: "PAYWALL", purchasedAt };
      const receiptJwt = await new SignJWT({ ...facts, event: "purchase.completed", ptype: "CONSUMABLE" })
        .setProtectedHeader({ alg: "RS256", typ: "service-purchase+jwt", kid })
        .setIssuer(authUrl)
        .setAudience(gameId)
        .setSubject(userId)
        .setIssuedAt(now)
        .setJti(eventId)
        .sign(privateKey);
      const at = ++position;
      await sql`
        WITH p AS (
          INSERT INTO purchases (game_id, purchase_id, user_id, content_identifier, type, env, source, state,
            price_amount, price_currency, purchased_at)
          VALUES (${gameId}, ${purchaseId}, ${userId}, ${contentIdentifier}, 'CONSUMABLE', ${env}, 'PAYWALL',
            'COMPLETED', 499, 'EUR', ${now})
        ), e AS (
          INSERT INTO events (game_id, position, id, event, env, purchase_id, kid, receipt_jwt, created_at)
          VALUES (${gameId}, ${at}, ${eventId}, 'purchase.completed', ${env}, ${purchaseId}, ${kid}, ${receiptJwt}, ${now})
        )
        INSERT INTO deliveries (game_id, id, event_position, env, state, attempt_count, created_at)
        VALUES (${gameId}, ${eventId}, ${at}, ${env}, 'NOT_SENT', 0, ${now})`;
      reply.status(201);
      return {
        purchase: {
          ...facts,
          userId,
          type: "CONSUMABLE",
          state: "COMPLETED",
          fulfilledAt: null,
          refundedAt: null,
        },
        receiptJwt,
      };
    },
  );
}
