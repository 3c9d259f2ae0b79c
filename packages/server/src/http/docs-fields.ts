// The fields of a schema as a list: name, type, whether it is required, limits, meaning, and the fields inside.
import { type Html, html, inline, nothing } from "./docs-html.ts";
import { type Components, nameOfRef, resolveSchema } from "./openapi-examples.ts";
import type { JsonSchema } from "./openapi-types.ts";

export interface Row {
  readonly name: string;
  readonly schema: JsonSchema;
  /** Null where it makes no sense to say, as in answers. */
  readonly required: boolean | null;
  readonly description?: string | undefined;
}

export function fieldRows(given: JsonSchema, components: Components, isInput: boolean): Row[] {
  const schema = resolveSchema(given, components);
  return Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    schema: property,
    required: isInput ? (schema.required?.includes(name) ?? false) : null,
  }));
}

export function renderFields(rows: readonly Row[], components: Components): Html {
  if (rows.length === 0) return nothing;
  return html`<ul class="fields">${rows.map((row) => renderField(row, components))}</ul>`;
}

function renderField({ name, schema: given, required, description }: Row, components: Components): Html {
  const schema = resolveSchema(given, components);
  const inside = schema.items === undefined ? schema : resolveSchema(schema.items, components);
  const meaning = description ?? schema.description;
  const limits = limitsOf(schema);
  return html`<li><div class="field"><code class="name">${name}</code> <span class="type">${typeName(given, components)}</span>${
    required === null
      ? nothing
      : required
        ? html` <span class="required">required</span>`
        : html` <span class="optional">optional</span>`
  }</div>${meaning === undefined ? nothing : html`<p>${inline(meaning)}</p>`}${
    limits.length === 0
      ? nothing
      : html`<p class="limits">${limits.map((limit, at) => html`${at === 0 ? "" : " · "}${inline(limit)}`)}</p>`
  }${renderFields(fieldRows(inside, components, required !== null), components)}</li>`;
}

function typeName(given: JsonSchema, components: Components): string {
  const schema = resolveSchema(given, components);
  if (schema.items !== undefined) return `list of ${typeName(schema.items, components)}`;
  if (schema.anyOf !== undefined)
    return schema.anyOf.map((option) => typeName(option, components)).join(" or ");
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? ["any"]);
  const named = nameOfRef(given);
  return types
    .map((type) =>
      type === "object" && named !== undefined
        ? named
        : schema.format === "date-time" && type === "string"
          ? "time"
          : type,
    )
    .join(" or ");
}

function limitsOf(schema: JsonSchema): string[] {
  const values = schema.enum ?? schema.items?.enum;
  const limits = [
    values === undefined ? "" : `one of ${values.map((value) => `\`${String(value)}\``).join(", ")}`,
    range("characters", schema.minLength, schema.maxLength),
    range("items", schema.minItems, schema.maxItems),
    range("", schema.minimum, schema.maximum),
    schema.pattern === undefined ? "" : `matches \`${schema.pattern}\``,
    schema.default === undefined ? "" : `default \`${JSON.stringify(schema.default)}\``,
  ];
  return limits.filter((limit) => limit !== "");
}

function range(unit: string, min: number | undefined, max: number | undefined): string {
  if (min === undefined && max === undefined) return "";
  const numbers =
    min === undefined ? `at most ${max}` : max === undefined ? `at least ${min}` : `${min} to ${max}`;
  return unit === "" ? numbers : `${numbers} ${unit}`;
}
