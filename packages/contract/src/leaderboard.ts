// Leaderboards on the wire.
import { z } from "zod";
import { displayType, sortOrder } from "./enums.ts";
import { displayNameMaxChars, leaderboardNameMaxChars } from "./limits.ts";
import { normalizeName } from "./normalize-name.ts";
import { text } from "./text.ts";

export const leaderboard = z.object({
  id: z.string(),
  name: z.string(),
  displayName: z.string(),
  sortOrder: z.int(),
  displayType: z.int(),
  visible: z.boolean(),
});
export type Leaderboard = z.infer<typeof leaderboard>;

const displayName = text(1, displayNameMaxChars).describe("The label players see.");
const visible = z.boolean().describe("Whether the leaderboard appears on the game's store page.");

/** A name as it is given when a board is made or renamed; what is stored is its normalised form. */
export const newLeaderboardName = text(1, leaderboardNameMaxChars)
  .refine((name) => normalizeName(name) !== "", {
    error: "must hold at least one letter a-z, digit, underscore or hyphen once normalised",
  })
  .describe("Scores are submitted against this name. Stored in normalised form.");

export const createLeaderboardBody = z.object({
  name: newLeaderboardName,
  displayName: displayName.optional().describe("Defaults to the name as given."),
  sortOrder,
  displayType,
  visible: visible.default(true),
});

export const renameLeaderboardBody = z.object({ name: newLeaderboardName });

const changes = z.object({ visible, displayName, sortOrder, displayType });
const changeableFields = Object.keys(changes.shape);
const hasChange = (body: Readonly<Record<string, unknown>>) =>
  changeableFields.some((field) => body[field] !== undefined);

/** Said to whoever tries to rename by an update. */
export const nameIsFixed =
  "cannot be changed here. Rename the leaderboard in the developer portal, or with POST .../leaderboards/{id}/rename";

/** `id` and `name` may come back as they were read, so that a client can read, edit and write the whole object. */
export const updateLeaderboardBody = changes
  .partial()
  .extend({
    id: z.string().optional().describe("May be sent back unchanged."),
    name: z.string().optional().describe("May be sent back unchanged; renaming is an operation of its own."),
  })
  .refine((body) => hasChange(body) || body.name === undefined, {
    error: nameIsFixed,
    path: ["name"],
    abort: true,
  })
  .refine(hasChange, { error: `send at least one of ${changeableFields.join(", ")}` });
export type UpdateLeaderboardBody = z.infer<typeof updateLeaderboardBody>;
