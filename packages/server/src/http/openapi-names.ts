// The stable name of an operation, for generated clients: `POST /api/games/{gameId}/contents` is `createContent`.
import type { Method, Route } from "./route.ts";

const onCollection: Readonly<Record<Method, string>> = {
  GET: "list",
  POST: "create",
  PUT: "set",
  PATCH: "update",
  DELETE: "delete",
};
const onOne: Readonly<Record<Method, string>> = { ...onCollection, GET: "get" };

export function operationIdOf({ method, path }: Pick<Route, "method" | "path">): string {
  if (!path.startsWith("/api/")) return onOne[method] + pascal(path);
  const inGame = path.replace(/^\/api\/games\/\{gameId\}(?=\/)/, "").replace(/^\/api/, "");
  const segments = inGame.split("/").filter((segment) => segment !== "");
  const words = segments.filter((segment) => !segment.startsWith("{"));
  const last = segments.at(-1) ?? "";
  const word = words.pop() ?? "";

  if (last.startsWith("{")) {
    const by = word.startsWith("by-") ? pascal(word) : "";
    const noun = by === "" ? word : (words.pop() ?? "");
    return onOne[method] + owners(words) + singular(noun) + by;
  }
  if (word.endsWith("s")) {
    return onCollection[method] + owners(words) + (method === "GET" ? pascal(word) : singular(word));
  }
  // An action: on one (`/purchases/{purchaseId}/refund`) or on them all (`/events/stream`).
  const noun = words.pop() ?? "";
  const onOneOfThem = segments.at(-2)?.startsWith("{") ?? false;
  return word + owners(words) + (onOneOfThem ? singular(noun) : pascal(noun));
}

function owners(words: readonly string[]): string {
  return words.map((word) => (word === "me" ? "My" : singular(word))).join("");
}

function singular(word: string): string {
  return pascal(word.replace(/ies$/, "y").replace(/s$/, ""));
}

function pascal(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("");
}
