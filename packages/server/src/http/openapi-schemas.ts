// JSON Schemas of what validates: zod's own translation, tidied for readers, with the contract's objects as components.
import * as contract from "@coinslot/contract";
import { z } from "zod";
import { glossary } from "./openapi-glossary.ts";
import type { JsonSchema } from "./openapi-types.ts";

type Direction = "input" | "output";

export interface SchemaBook {
  /** The schema of what is sent (`input`) or answered (`output`); a reference where it has a name. */
  describe(schema: z.ZodType, direction: Direction): JsonSchema;
  /** The named schemas that were referred to so far, by name. */
  components(): Record<string, JsonSchema>;
}

const componentsAt = "#/components/schemas/";

export function createSchemaBook(): SchemaBook {
  const names = nameContractObjects();
  const found = new Map<string, JsonSchema>();
  const nameOf = new Map<string, string>();

  const refer = (schema: z.core.$ZodType, plainName: string, direction: Direction): JsonSchema => {
    const key = `${direction} ${plainName}`;
    let name = nameOf.get(key);
    if (name === undefined) {
      name = found.has(plainName) ? `${plainName}${direction === "input" ? "Input" : "Answer"}` : plainName;
      nameOf.set(key, name);
      // Taken before the inside is translated, so that the name is this schema's.
      found.set(name, {});
      found.set(name, translate(schema, direction, plainName));
    }
    return { $ref: componentsAt + name };
  };

  const translate = (root: z.core.$ZodType, direction: Direction, owner?: string): JsonSchema => {
    const json = z.toJSONSchema(root, {
      target: "draft-2020-12",
      io: direction,
      override: ({ zodSchema, jsonSchema }) => {
        const name = names.get(zodSchema);
        if (name === undefined || zodSchema === root) return;
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as keyof typeof jsonSchema];
        jsonSchema.$ref = refer(zodSchema, name, direction).$ref ?? "";
      },
    });
    const { $schema: _, ...rest } = json;
    // Ours is the part of JSON Schema that zod writes for the schemas of the contract.
    return tidy(rest as JsonSchema, owner);
  };

  return {
    describe: (schema, direction) => {
      const name = names.get(schema);
      return name === undefined ? translate(schema, direction) : refer(schema, name, direction);
    },
    components: () => Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** `createGameBody` of the contract is the component `CreateGameBody`. */
function nameContractObjects(): Map<z.core.$ZodType, string> {
  const names = new Map<z.core.$ZodType, string>();
  for (const [name, value] of Object.entries(contract)) {
    const inner: unknown = value instanceof z.ZodOptional ? value.unwrap() : value;
    if (!(value instanceof z.ZodType) || !(inner instanceof z.ZodObject)) continue;
    names.set(value, value === contract.errorBody ? "Error" : name.charAt(0).toUpperCase() + name.slice(1));
  }
  return names;
}

function tidy(schema: JsonSchema, owner = ""): JsonSchema {
  const out: JsonSchema = { ...schema };
  // Zod spells the calendar out as a pattern; the format says it already.
  if (out.format === "date-time") delete out.pattern;
  if (out.type !== "string") delete out.pattern;
  if (out.minLength === 0) delete out.minLength;
  if (out.minimum === Number.MIN_SAFE_INTEGER) delete out.minimum;
  if (out.maximum === Number.MAX_SAFE_INTEGER) delete out.maximum;
  // Answers may gain fields: a reader that refuses unknown ones would break on that day.
  if (out.additionalProperties === false) delete out.additionalProperties;
  delete out.propertyNames;
  if (out.items !== undefined) out.items = tidy(out.items);
  if (typeof out.additionalProperties === "object") out.additionalProperties = tidy(out.additionalProperties);
  if (out.properties !== undefined) {
    out.properties = Object.fromEntries(
      Object.entries(out.properties).map(([name, property]) => [name, explain(name, tidy(property), owner)]),
    );
  }
  return out.anyOf === undefined
    ? out
    : joinAlternatives(
        out,
        out.anyOf.map((option) => tidy(option)),
      );
}

/** A field without a sentence of its own gets the glossary's. */
export function explain(name: string, schema: JsonSchema, owner = ""): JsonSchema {
  if (schema.description !== undefined || schema.$ref !== undefined) return schema;
  const meaning = (glossary[`${owner}.${name}`] ?? glossary[name])?.meaning;
  return meaning === undefined ? schema : { ...schema, description: meaning };
}

/** `anyOf` of constants is a list of values; `anyOf` with null is one type or null. */
function joinAlternatives({ anyOf: _, ...rest }: JsonSchema, options: JsonSchema[]): JsonSchema {
  if (options.every((option) => typeof option.const === "number")) {
    return { ...rest, type: "integer", enum: options.map((option) => option.const) };
  }
  const [only, ...others] = options.filter((option) => option.type !== "null");
  if (others.length === 0 && typeof only?.type === "string" && only.enum === undefined) {
    return { ...rest, ...only, type: [only.type, "null"] };
  }
  return { ...rest, anyOf: options };
}
