// The parts of an OpenAPI 3.1 document that we write, as types.
// Type aliases rather than interfaces where a value must also pass as a plain record.

export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  format?: string;
  pattern?: string;
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, JsonSchema>;
  propertyNames?: JsonSchema;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

export interface MediaType {
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

export interface Header {
  readonly description: string;
  readonly schema: JsonSchema;
}

export interface Reference {
  readonly $ref: string;
}

export interface Response {
  readonly description: string;
  readonly headers: Readonly<Record<string, Reference>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  /** One of these is enough; none means that no credential is needed. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, MediaType>>;
  };
  readonly responses: Readonly<Record<string, Response | Reference>>;
}

export interface SecurityScheme {
  readonly type: "http";
  readonly scheme: "bearer";
  readonly bearerFormat?: string;
  readonly description: string;
}

export type OpenApi = {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
    readonly headers: Readonly<Record<string, Header>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly schemas: Readonly<Record<string, JsonSchema>>;
  };
};
