// The least that fulfilling takes: jose verifies the receipt, one UPDATE by primary key, the answer.
import type { FastifyInstance } from "fastify";
import { jwtVerify } from "jose";
import type { Sql } from "../packages/server/src/database/connect.ts";
import type { Keyring } from "../packages/server/src/keys/keyring.ts";

export interface BareDeps {
  readonly sql: Sql;
  readonly keyring: Keyring;
  readonly authUrl: string;
}

export function bareFulfill(http: FastifyInstance, { sql, keyring, authUrl }: BareDeps): void {
  const expected = { issuer: authUrl, typ: "service-purchase+jwt", algorithms: ["RS256"] };
  const keyOf = async ({ kid = "" }: { kid?: string }) => {
    const key = await keyring.find(kid);
    if (key === undefined) throw new Error("Unknown key.");
    return key;
  };
  http.post<{ Params: { purchaseId: string }; Body: { receiptJwt: string } }>(
    "/api/purchases/:purchaseId/fulfill",
    async (request) => {
      const { payload } = await jwtVerify(request.body.receiptJwt, keyOf, expected);
      const { count } = await sql`
        UPDATE purchases SET state = 'FULFILLED', fulfilled_at = ${new Date()}, fulfilled_by = 'RECEIPT'
        WHERE game_id = ${String(payload.aud)} AND purchase_id = ${request.params.purchaseId} AND state = 'COMPLETED'`;
      return { status: count === 1 ? "FULFILLED" : "ALREADY_FULFILLED" };
    },
  );
}
