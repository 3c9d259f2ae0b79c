// The error codes of the API, the HTTP status of each, and the body that carries them.
import { z } from "zod";

export const errorStatuses = {
  invalid_input: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof errorStatuses;

export const errorCodes = Object.keys(errorStatuses) as [ErrorCode, ...ErrorCode[]];

export const errorBody = z.object({
  error: z.string().describe("What went wrong, in a sentence for a person."),
  code: z.enum(errorCodes).describe("The stable code to branch on."),
  field: z.string().optional().describe("The one field at fault, where there is one."),
  status: z.literal("NOT_FOUND").optional().describe("Only on a fulfil answered 404."),
});
export type ErrorBody = z.infer<typeof errorBody>;
