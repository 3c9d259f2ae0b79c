// Parses what a caller sent with a schema, and turns the first mistake into an `invalid_input` for a person.
import type { z } from "zod";
import { type ApiError, invalidInput } from "./api-error.ts";

export function parseInput<S extends z.ZodType>(schema: S, input: unknown, what: string): z.output<S> {
  // With the input in the issues, a value of the wrong type is told apart from one that is missing.
  const result = schema.safeParse(input, { reportInput: true });
  if (result.success) return result.data;
  throw explain(result.error.issues, what);
}

function explain(issues: readonly z.core.$ZodIssue[], what: string): ApiError {
  const issue = issues[0];
  if (issue === undefined) return invalidInput(`The ${what} is not valid.`);
  const field = issue.path.map(String).join(".");
  const sentence = describe(issue);
  if (field !== "") return invalidInput(`${field}: ${sentence}.`, field);
  return invalidInput(
    /^(is|must) /.test(sentence) ? `The ${what} ${sentence}.` : `The ${what}: ${sentence}.`,
  );
}

const kinds: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "a JSON object",
  array: "a list",
};

function describe(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is required" : `must be ${kinds[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "too_big":
      return issue.origin === "string"
        ? `must have at most ${issue.maximum} characters`
        : `must be at most ${issue.maximum}`;
    case "too_small":
      return issue.origin === "string" || issue.origin === "array"
        ? `must not have fewer than ${issue.minimum}`
        : `must be at least ${issue.minimum}`;
    default:
      return issue.message.replace(/\.$/, "");
  }
}
