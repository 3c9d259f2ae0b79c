// The player's own token: a short-lived JWT of a type of its own, so that it never passes as a receipt.
import { type Env, env, limits, userTokenTyp } from "@coinslot/contract";
import { z } from "zod";
import type { Clock } from "../clock.ts";
import type { Ids } from "../ids.ts";
import type { Keyring } from "../keys/keyring.ts";
import { signToken } from "../keys/sign-token.ts";
import { TokenError, verifyToken } from "../keys/verify-token.ts";

const userClaims = z.object({ aud: z.string(), sub: z.string(), env, exp: z.int() });

export interface Player {
  readonly gameId: string;
  readonly userId: string;
  readonly env: Env;
}

export function signUserToken(
  deps: { clock: Clock; ids: Ids; keyring: Pick<Keyring, "active">; authUrl: string },
  player: Player,
): Promise<string> {
  const nowMs = deps.clock.nowMs();
  return signToken(deps.keyring.active(), userTokenTyp, {
    iss: deps.authUrl,
    aud: player.gameId,
    sub: player.userId,
    iat: Math.floor(nowMs / 1000),
    exp: Math.floor((nowMs + limits.playerTokenLifetimeMs) / 1000),
    jti: deps.ids("ut"),
    env: player.env,
  });
}

/** Null when the token is not good or has expired. */
export async function verifyUserToken(
  deps: { clock: Clock; keyring: Pick<Keyring, "find" | "findByHead" | "isIssuer"> },
  token: string,
): Promise<Player | null> {
  try {
    const claims = userClaims.parse(await verifyToken(deps.keyring, token, userTokenTyp));
    if (claims.exp * 1000 <= deps.clock.nowMs()) return null;
    return { gameId: claims.aud, userId: claims.sub, env: claims.env };
  } catch (error) {
    if (error instanceof TokenError || error instanceof z.ZodError) return null;
    throw error;
  }
}
