// Mistakes in what a caller sent, as sentences for a person with the field at fault.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ApiError } from "./api-error.ts";
import { parseInput } from "./parse-input.ts";

const schema = z.object({
  name: z.string().min(2).max(5),
  count: z.int().min(1).max(9).optional(),
  kind: z.enum(["A", "B"]).optional(),
  on: z.boolean().optional(),
  tags: z
    .array(z.object({ label: z.string() }))
    .min(1)
    .optional(),
});

function mistake(input: unknown): { error: string; code: string; field?: string | undefined } {
  try {
    parseInput(schema, input, "body");
  } catch (error) {
    return (error as ApiError).toBody();
  }
  throw new Error("The input was accepted.");
}

describe("parseInput", () => {
  it("answers what the schema makes of the input", () => {
    expect(parseInput(z.object({ n: z.string().transform(Number) }), { n: "7", more: 1 }, "body")).toEqual({
      n: 7,
    });
  });

  it.each([
    ["no body", undefined, undefined, "The body is required."],
    ["a list", [], undefined, "The body must be a JSON object."],
    ["null", null, undefined, "The body must be a JSON object."],
    ["a missing field", {}, "name", "name: is required."],
    ["null in a field", { name: null }, "name", "name: must be text."],
    ["a number for text", { name: 7 }, "name", "name: must be text."],
    ["text too long", { name: "abcdef" }, "name", "name: must have at most 5 characters."],
    ["text too short", { name: "a" }, "name", "name: must not have fewer than 2."],
    ["a fraction", { name: "abc", count: 1.5 }, "count", "count: must be a whole number."],
    ["a number too small", { name: "abc", count: 0 }, "count", "count: must be at least 1."],
    ["a number too big", { name: "abc", count: 10 }, "count", "count: must be at most 9."],
    ["an unknown word", { name: "abc", kind: "C" }, "kind", "kind: must be one of A, B."],
    ["text for true or false", { name: "abc", on: "true" }, "on", "on: must be true or false."],
    [
      "a field inside a list",
      { name: "abc", tags: [{ label: "x" }, {}] },
      "tags.1.label",
      "tags.1.label: is required.",
    ],
  ])("%s", (_what, input, field, error) => {
    expect(mistake(input)).toEqual({
      error,
      code: "invalid_input",
      ...(field === undefined ? {} : { field }),
    });
  });

  it("never repeats what was sent", () => {
    const secret = "cst_secret";
    for (const input of [
      secret,
      { name: { [secret]: secret } },
      { name: "abc", kind: secret },
      { name: `${secret}x` },
    ])
      expect(JSON.stringify(mistake(input))).not.toContain(secret);
  });
});
