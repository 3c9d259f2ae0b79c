// The wire truth, as one import.
export * from "./delivery.ts";
export * from "./enums.ts";
export * from "./errors.ts";
export * from "./leaderboard.ts";
export * as limits from "./limits.ts";
export * from "./normalize-name.ts";
export * from "./receipt.ts";
export * from "./resources.ts";
export * from "./text.ts";
