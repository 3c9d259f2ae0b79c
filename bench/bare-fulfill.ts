// The least that fulfilling takes: Node verifies the receipt's signature, one UPDATE by primary key, the answer.
import { verify } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { Sql } from "../packages/server/src/database/connect.ts";
import type { Keyring } from "../packages/server/src/keys/keyring.ts";

export interface BareDeps {
  readonly sql: Sql;
  readonly keyring: Keyring;
  readonly authUrl: string;
}

export function bareFulfill(http: FastifyInstance, { sql, keyring, authUrl }: BareDeps): void {
  const read = (part = "") => JSON.parse(Buffer.from(part, "base64url").toString());
  http.post<{ Params: { purchaseId: string }; Body: { receiptJwt: string } }>(
    "/api/purchases/:purchaseId/fulfill",
    async (request) => {
      const [head, body, signature = ""] = request.body.receiptJwt.split(".");
      const { alg, typ, kid } = read(head);
      const key = await keyring.find(kid);
      if (key === undefined || alg !== "RS256" || typ !== "service-purchase+jwt")
        throw new Error("Not a receipt.");
      const isGood = await new Promise<boolean>((resolve, reject) => {
        const bytes = Buffer.from(signature, "base64url");
        verify("RSA-SHA256", Buffer.from(`${head}.${body}`), key, bytes, (error, good) =>
          error === null ? resolve(good) : reject(error),
        );
      });
      const { iss, aud } = read(body);
      if (!isGood || iss !== authUrl) throw new Error("Not a receipt.");
      const { count } = await sql`
        UPDATE purchases SET state = 'FULFILLED', fulfilled_at = ${new Date()}, fulfilled_by = 'RECEIPT'
        WHERE game_id = ${String(aud)} AND purchase_id = ${request.params.purchaseId} AND state = 'COMPLETED'`;
      return { status: count === 1 ? "FULFILLED" : "ALREADY_FULFILLED" };
    },
  );
}
