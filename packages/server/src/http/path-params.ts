// Names in a path: any text that the database could hold.
import { limits, text } from "@coinslot/contract";
import { z } from "zod";

const segment = text(1, limits.pathParamMaxChars);

export function pathParams<Name extends string>(...names: readonly Name[]) {
  const shape = Object.fromEntries(names.map((name) => [name, segment])) as Record<Name, typeof segment>;
  return z.object(shape);
}
