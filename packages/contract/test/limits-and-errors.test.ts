// The limits that games rely on, the error codes with their statuses, and the closed lists of words.
import * as contract from "@coinslot/contract";
import { describe, expect, test } from "vitest";

const { limits } = contract;
const hourMs = 3_600_000;

describe("limits", () => {
  test.each([
    ["displayNameMaxChars", 200],
    ["webhookAckTimeoutMs", 10_000],
    ["webhookRetryCount", 8],
    ["webhookRetrySpanMs", 72 * hourMs],
    ["playerTokenLifetimeMs", hourMs],
    ["idempotencyKeyKeepMs", 24 * hourMs],
  ] as const)("%s is %d", (name, value) => {
    expect(limits[name]).toBe(value);
  });

  test("every limit is a positive whole number, with its unit last in its name", () => {
    const all = Object.entries(limits);
    expect(all.length).toBeGreaterThan(20);
    for (const [name, value] of all) {
      expect(Number.isSafeInteger(value) && value > 0, name).toBe(true);
      expect(name).toMatch(/(Ms|Bytes|Chars|Count|MinorUnits)$/);
    }
  });

  test("the largest body that a field may need fits into the body limit", () => {
    // Four bytes a code point; JSON escapes are the sender's choice.
    expect(limits.receiptMaxChars).toBeLessThan(limits.bodyMaxBytes);
    expect(limits.webhookUrlMaxChars * 4).toBeLessThan(limits.bodyMaxBytes);
    expect(limits.displayNameMaxChars * 4).toBeLessThan(limits.bodyMaxBytes);
  });
});

describe("error codes", () => {
  const expected = {
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
  };

  test("each code has its status, and there are no others", () => {
    expect(contract.errorStatuses).toEqual(expected);
    expect([...contract.errorCodes].sort()).toEqual(Object.keys(expected).sort());
  });

  test.each([
    [{ error: "No.", code: "not_found" }],
    [{ error: "No.", code: "not_found", status: "NOT_FOUND" }],
    [{ error: "No.", code: "invalid_input", field: "displayName" }],
  ])("error body %j is legal", (body) => {
    expect(contract.errorBody.strict().safeParse(body).success).toBe(true);
  });

  test.each([
    [{ code: "not_found" }],
    [{ error: "No." }],
    [{ error: "No.", code: "nope" }],
    [{ error: "No.", code: "not_found", status: "FULFILLED" }],
    [{ error: "No.", code: "internal", stack: "at x" }],
  ])("error body %j is not", (body) => {
    expect(contract.errorBody.strict().safeParse(body).success).toBe(false);
  });
});

describe("words on the wire", () => {
  test.each([
    ["env", contract.env, ["PLAYTEST", "PRODUCTION"]],
    ["contentType", contract.contentType, ["CONSUMABLE", "DURABLE"]],
    ["purchaseEvent", contract.purchaseEvent, ["purchase.completed", "purchase.refunded"]],
    ["purchaseSource", contract.purchaseSource, ["GIFT_CODE", "PAYWALL", "STORE_PAGE"]],
    ["purchaseState", contract.purchaseState, ["COMPLETED", "FULFILLED", "REFUNDED"]],
    ["fulfillStatus", contract.fulfillStatus, ["ALREADY_FULFILLED", "FULFILLED"]],
    ["deliveryState", contract.deliveryState, ["CANCELED", "DELIVERED", "FAILED", "NOT_SENT", "PENDING"]],
    [
      "scope",
      contract.scope,
      [
        "catalog:write",
        "leaderboards:read",
        "leaderboards:write",
        "purchases:read",
        "scores:write",
        "webhooks:read",
        "webhooks:write",
      ],
    ],
  ])("%s", (_name, schema, words) => {
    expect([...schema.options].sort()).toEqual(words);
  });

  test("token types: a receipt and a user token never share one", () => {
    expect(contract.receiptTyp).toBe("service-purchase+jwt");
    expect(contract.userTokenTyp).not.toBe(contract.receiptTyp);
    expect(contract.jwksPath).toBe("/.well-known/jwks.json");
  });
});
