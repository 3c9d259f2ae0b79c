// The few functions of the independent JWT library that the tests use; it brings no types of its own.
declare module "jsonwebtoken" {
  import type { KeyObject } from "node:crypto";

  interface Jwt {
    readonly header: Record<string, unknown>;
    readonly payload: Record<string, unknown>;
    readonly signature: string;
  }
  interface VerifyOptions {
    readonly algorithms: readonly string[];
    readonly issuer?: string;
    readonly audience?: string;
    readonly complete: true;
  }
  const jwt: {
    verify(token: string, key: KeyObject, options: VerifyOptions): Jwt;
    sign(payload: object, key: KeyObject | string, options: object): string;
  };
  export = jwt;
}
