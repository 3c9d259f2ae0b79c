// Makes the things that most tests start from, over the API.
import type { Env } from "@coinslot/contract";
import type { TestService } from "./test-service.ts";

let count = 0;

export async function createGame(service: TestService): Promise<string> {
  const { body } = await service.call("POST", "/api/games", {
    body: { id: `game-${++count}`, title: "A game" },
  });
  return body.game.id;
}

export async function createContent(
  service: TestService,
  gameId: string,
  type: "CONSUMABLE" | "DURABLE",
): Promise<string> {
  const contentIdentifier = `${type.toLowerCase()}-${++count}`;
  await service.call("POST", `/api/games/${gameId}/contents`, {
    body: { contentIdentifier, type, title: "Something", price: { amount: 499, currency: "EUR" } },
  });
  return contentIdentifier;
}

export interface Bought {
  readonly gameId: string;
  readonly userId: string;
  readonly contentIdentifier: string;
  readonly purchaseId: string;
  readonly receiptJwt: string;
}

/** A purchase of new content, in the game given or a new one. */
export async function buy(
  service: TestService,
  wish: {
    gameId?: string;
    type?: "CONSUMABLE" | "DURABLE";
    userId?: string;
    env?: Env;
    contentIdentifier?: string;
  } = {},
): Promise<Bought> {
  const gameId = wish.gameId ?? (await createGame(service));
  const contentIdentifier =
    wish.contentIdentifier ?? (await createContent(service, gameId, wish.type ?? "CONSUMABLE"));
  const userId = wish.userId ?? `player-${++count}`;
  const { body } = await service.call("POST", `/api/games/${gameId}/purchases`, {
    body: { userId, contentIdentifier, env: wish.env ?? "PRODUCTION" },
  });
  return {
    gameId,
    userId,
    contentIdentifier,
    purchaseId: body.purchase.purchaseId,
    receiptJwt: body.receiptJwt,
  };
}

export async function createToken(
  service: TestService,
  gameId: string,
  ...scopes: string[]
): Promise<string> {
  const { body } = await service.call("POST", `/api/games/${gameId}/tokens`, {
    body: { label: "A test", scopes },
  });
  return body.accessToken;
}

export async function createPlayerToken(
  service: TestService,
  gameId: string,
  userId: string,
  env: Env = "PRODUCTION",
): Promise<string> {
  const { body } = await service.call(
    "POST",
    `/api/games/${gameId}/players/${encodeURIComponent(userId)}/tokens`,
    { body: { env } },
  );
  return body.userJwt;
}
