// The one error that use-cases throw for a caller: a code, a sentence, and where it helps the field at fault.
import { type ErrorBody, type ErrorCode, errorStatuses } from "@coinslot/contract";

export class ApiError extends Error {
  override name = "ApiError";
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly status: "NOT_FOUND" | undefined;
  readonly retryAfterS: number | undefined;

  constructor(
    code: ErrorCode,
    sentence: string,
    more: { field?: string; status?: "NOT_FOUND"; retryAfterS?: number } = {},
  ) {
    super(sentence);
    this.code = code;
    this.field = more.field;
    this.status = more.status;
    this.retryAfterS = more.retryAfterS;
  }

  get httpStatus(): number {
    return errorStatuses[this.code];
  }

  toBody(): ErrorBody {
    return {
      error: this.message,
      code: this.code,
      ...(this.field === undefined ? {} : { field: this.field }),
      ...(this.status === undefined ? {} : { status: this.status }),
    };
  }
}

export const unauthorized = (sentence: string) => new ApiError("unauthorized", sentence);
export const forbidden = (sentence: string) => new ApiError("forbidden", sentence);
export const notFound = (sentence: string) => new ApiError("not_found", sentence);
export const conflict = (sentence: string, field?: string) =>
  new ApiError("conflict", sentence, field === undefined ? {} : { field });
export const invalidInput = (sentence: string, field?: string) =>
  new ApiError("invalid_input", sentence, field === undefined ? {} : { field });
