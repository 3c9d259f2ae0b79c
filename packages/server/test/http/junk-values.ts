// Junk of every kind, as fast-check arbitraries.
import fc from "fast-check";

const nasty = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "x\udfffy",
  "\u202e\u200b\ufeff",
  "💥".repeat(201),
  "z".repeat(3_000),
  "__proto__",
  "constructor",
  "' OR 1=1 --",
  "$1; DROP TABLE games",
  "NaN",
  "-Infinity",
  "1e999",
  "true",
  "null",
  "{}",
  "../../etc/passwd",
];

/** Text that no field may store: it holds NUL or half a character. */
export const unstorableText = fc
  .tuple(
    fc.string({ maxLength: 5 }),
    fc.constantFrom("\u0000", "\ud800", "\udc00x"),
    fc.string({ maxLength: 5 }),
  )
  .map((parts) => parts.join(""));

export const junkText = fc.oneof(
  fc.constantFrom(...nasty),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ maxLength: 40 }),
);

const junkNumber = fc.oneof(
  fc.constantFrom(-1, 4, 0.5, 2 ** 31, 2 ** 53, 2 ** 63, 1.7e308, -1e-7, 100_000_001),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
);

/** Any JSON value. */
export const junkValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, false, [], {}, [[]], [null], { length: 1 }),
  junkNumber,
  junkText,
  fc.jsonValue({ maxDepth: 3 }),
);

const token = "[A-Za-z0-9_-]";
export const jwtLike = fc.oneof(
  fc.stringMatching(new RegExp(`^${token}{0,60}\\.${token}{0,60}\\.${token}{0,60}$`)),
  fc
    .tuple(
      fc.constantFrom("none", "HS256", "RS256", "PS256", 5, null),
      fc.constantFrom("service-purchase+jwt", "service-user+jwt", "JWT", null, {}),
      fc.jsonValue({ maxDepth: 2 }),
      fc.string({ maxLength: 20 }),
    )
    .map(([alg, typ, claims, signature]) =>
      [JSON.stringify({ alg, typ, kid: "key_x" }), JSON.stringify(claims), signature]
        .map((part) => Buffer.from(part).toString("base64url"))
        .join("."),
    ),
);

/** Not JSON by any reading. */
export const notJson = (valid: string) =>
  fc
    .oneof(
      fc.nat({ max: Math.max(0, valid.length - 2) }).map((length) => `${valid.slice(0, length)} `),
      fc.constantFrom(
        "{",
        "nul",
        "{'title': 1}",
        "{title: 1}",
        "NaN",
        '{"a": NaN}',
        '{"a": Infinity}',
        "01",
        "[1,]",
        '"\u0001"',
        "\u0000",
        `${valid}}`,
        `${valid},`,
        `${valid}${valid}`,
        `// no comments\n${valid}`,
        "<a/>",
        "a=1&b=2",
      ),
      fc.string({ minLength: 1, maxLength: 60 }),
      fc.constantFrom("[", '{"a":', '{"__proto__":').map((open) => open.repeat(5_000)),
    )
    .filter((text) => !isJson(text));

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return text.trim() === "";
  }
}

/** Raw text in the place of one name in a path. */
export const junkSegment = fc.oneof(
  fc.constantFrom(
    "",
    "%00",
    "a%00b",
    "%",
    "%zz",
    "%c3%28",
    "%ed%a0%80",
    "%ff%fe",
    "..",
    "%2e%2e",
    "%2e%2e%2f%2e%2e",
    "a%2fb",
    "a/b",
    "//",
    "?",
    "#",
    "%3f",
    "*",
    ":gameId",
    "{gameId}",
    "__proto__",
    "constructor",
    "null",
    "'%20OR%201=1--",
    "%F0%9F%92%A5",
    "x".repeat(1_024),
    "x".repeat(1_025),
    "x".repeat(9_000),
    "%20".repeat(400),
  ),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).map((text) => encodeURIComponent(text)),
  fc.stringMatching(/^[!-~]{1,30}$/),
  // Bytes that do not belong into a request line at all.
  fc.constantFrom("\u00e9", "日本", "\u0001", "a b", "\t"),
);

export const junkCredential = fc.oneof(
  fc.constantFrom(
    "",
    "Bearer",
    "Bearer ",
    "bearer\tx",
    "Basic b3A6cHc=",
    "Bearer a b",
    "Token x",
    "Bearer \u00ff",
  ),
  fc.stringMatching(/^[ -~]{0,80}$/),
  fc.stringMatching(/^[!-~]{1,80}$/).map((text) => `Bearer ${text}`),
  fc.stringMatching(/^[0-9A-Za-z]{49}$/).map((text) => `Bearer cst_${text}`),
  fc.constantFrom(2_000, 8_000).map((length) => `Bearer ${"e".repeat(length)}`),
  jwtLike.map((jwt) => `Bearer ${jwt}`),
);

export const junkContentType = fc.oneof(
  fc.constantFrom(
    "",
    "text/plain",
    "text/json",
    "application/xml",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonx",
    "application/",
    "/",
    ";",
    "application/octet-stream",
    "application/merge-patch+json",
  ),
  fc.stringMatching(/^[!-~]{1,40}$/).filter((type) => !type.toLowerCase().startsWith("application/json")),
);

export const junkIdempotencyKey = fc.oneof(
  fc.constantFrom("", " ", "a b", "\u00e9", "k".repeat(256), "k".repeat(4_000), "a\tb", "日本"),
  fc.stringMatching(/^[!-~]{1,10} [!-~]{1,10}$/),
);

/** A legal body with one thing wrong somewhere, as text: some wrongs cannot be said as a value. */
export function mutate(body: Record<string, unknown>): fc.Arbitrary<string> {
  const names = Object.keys(body);
  const asText = (value: unknown) => JSON.stringify(value);
  const whole = junkValue.map(asText);
  if (names.length === 0) return whole;
  const name = fc.constantFrom(...names);
  const replaced = fc.tuple(name, junkValue).map(([key, value]) => asText({ ...body, [key]: value }));
  const missing = name.map((key) => asText({ ...body, [key]: undefined }));
  const twice = fc
    .tuple(name, junkValue)
    .map(([key, value]) => `${asText(body).slice(0, -1)},${asText(key)}:${asText(value)}}`);
  const enormous = fc
    .tuple(
      name,
      fc.constantFrom(
        "1e999",
        "-1e999",
        "123456789012345678901234567890",
        "[".repeat(9_000) + "]".repeat(9_000),
      ),
    )
    .map(([key, value]) =>
      asText({ ...body, [key]: 0 }).replace(`${asText(key)}:0`, `${asText(key)}:${value}`),
    );
  const nested = Object.entries(body).flatMap(([key, value]) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? [
          mutate(value as Record<string, unknown>).map(
            (text) => `${asText({ ...body, [key]: undefined }).slice(0, -1)},${asText(key)}:${text}}`,
          ),
        ]
      : [],
  );
  return fc.oneof(whole, replaced, missing, twice, enormous, ...nested);
}
