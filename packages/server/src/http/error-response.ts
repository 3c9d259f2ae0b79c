// Turns whatever was thrown into the error body: nothing of the inside ever leaves in it.
import { limits } from "@coinslot/contract";
import { isDatabaseOutage } from "../database/connect.ts";
import { OverloadError } from "../database/group-calls.ts";
import { ApiError, invalidInput } from "./api-error.ts";

export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof OverloadError) {
    return new ApiError("unavailable", "The service is overloaded. Try again shortly.", { retryAfterS: 1 });
  }
  if (isDatabaseOutage(error)) {
    return new ApiError("unavailable", "The service cannot reach its database. Try again shortly.", {
      retryAfterS: 1,
    });
  }
  return (
    fromFastify(error) ??
    new ApiError("internal", "Something went wrong on our side. The request id helps us find out what.")
  );
}

/** Fastify's own refusals carry a 4xx status and a stable code. */
function fromFastify(error: unknown): ApiError | null {
  if (!(error instanceof Error) || !("statusCode" in error) || typeof error.statusCode !== "number")
    return null;
  if (error.statusCode < 400 || error.statusCode > 499) return null;
  switch (error.statusCode) {
    case 413:
      return new ApiError(
        "payload_too_large",
        `The body is too large: ${limits.bodyMaxBytes / 1024} KiB at most.`,
      );
    case 415:
      return new ApiError(
        "unsupported_media_type",
        "Send the body as JSON with Content-Type: application/json.",
      );
    default:
      return invalidInput(
        error instanceof SyntaxError || error.message.includes("JSON")
          ? "The body is not valid JSON."
          : "The request could not be read.",
      );
  }
}
