// A value to show for a schema: the glossary's word for a field where it fits, else the plainest legal value.
import { glossary } from "./openapi-glossary.ts";
import type { JsonSchema } from "./openapi-types.ts";

export type Components = Readonly<Record<string, JsonSchema>>;

export function resolveSchema(schema: JsonSchema, components: Components): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const { $ref: _, ...beside } = schema;
  return { ...components[nameOfRef(schema) ?? ""], ...beside };
}

export function nameOfRef({ $ref }: JsonSchema): string | undefined {
  return $ref?.slice($ref.lastIndexOf("/") + 1);
}

/** `name` is that of the field it is for, `Component.field` where the component has one of its own. */
export function exampleOf(given: JsonSchema, components: Components, name?: string): unknown {
  const schema = resolveSchema(given, components);
  if (schema.const !== undefined) return schema.const;
  if (schema.properties !== undefined) return exampleObject(schema, components, nameOfRef(given));
  if (schema.items?.$ref !== undefined || schema.items?.properties !== undefined)
    return [exampleOf(schema.items, components)];
  const word = name === undefined ? undefined : wordFor(name);
  if (word !== undefined && fits(word, schema)) return word;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  const [option] = schema.anyOf ?? [];
  if (option !== undefined) return exampleOf(option, components, name);
  switch (typesOf(schema)[0]) {
    case "integer":
    case "number":
      return schema.minimum ?? 0;
    case "boolean":
      return true;
    case "array":
      return schema.items === undefined ? [] : [exampleOf(schema.items, components)];
    case "object":
      return {};
    case "null":
      return null;
    default:
      return "text";
  }
}

/** Optional ids and names are left out: the service makes them, or takes them only as they are. */
function exampleObject(
  schema: JsonSchema,
  components: Components,
  owner: string | undefined,
): Record<string, unknown> {
  const required = schema.required ?? [];
  const shown = Object.entries(schema.properties ?? {}).filter(
    ([name]) =>
      required.includes(name) ||
      owner === "CreateGameBody" ||
      !["id", "name", "field", "status"].includes(name),
  );
  return Object.fromEntries(
    shown.map(([name, property]) => [name, exampleOf(property, components, `${owner ?? ""}.${name}`)]),
  );
}

/** The word of the component's own field, else that of any field with the name. */
function wordFor(name: string): unknown {
  return (glossary[name] ?? glossary[name.slice(name.lastIndexOf(".") + 1)])?.example;
}

function typesOf(schema: JsonSchema): readonly string[] {
  if (schema.type === undefined) return [];
  return typeof schema.type === "string" ? [schema.type] : schema.type;
}

/** Whether the glossary's word may stand here: the same name can have another type elsewhere. */
function fits(word: unknown, schema: JsonSchema): boolean {
  if (schema.enum !== undefined) return schema.enum.includes(word);
  const types = typesOf(schema);
  if (word === null) return types.includes("null");
  if (Array.isArray(word)) {
    return (
      types.includes("array") && word.every((item) => schema.items === undefined || fits(item, schema.items))
    );
  }
  if (typeof word === "number") return types.includes("integer") || types.includes("number");
  return (
    types.includes(typeof word) &&
    !(schema.pattern !== undefined && !new RegExp(schema.pattern, "u").test(String(word)))
  );
}
