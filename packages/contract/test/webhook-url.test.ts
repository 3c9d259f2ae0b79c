// Which webhook URLs are accepted: https and nothing that could be read in two ways.
import { putWebhookBody } from "@coinslot/contract";
import { describe, expect, test } from "vitest";

const longest = `https://example.com/${"a".repeat(2_048 - "https://example.com/".length)}`;

describe("accepted, and kept as it was sent", () => {
  test.each([
    "",
    "https://example.com",
    "https://example.com/",
    "https://example.com/webhooks/service",
    "https://example.com/a/b/c.php",
    "https://example.com:8443/hook",
    "https://example.com:443/hook",
    "https://sub.domain.example.com/hook",
    "https://EXAMPLE.com/Hook",
    "https://example.com/hook?game=1&key=a%20b",
    "https://example.com?x",
    "https://example.com/a@b",
    "https://example.com/?mail=a@b.example",
    "https://example.com/http://other.example",
    "https://example.com/%E2%9C%93",
    "https://example.com/%23not-a-fragment",
    "https://example.com/ünïcode",
    "https://bücher.example/hook",
    "https://xn--bcher-kva.example/hook",
    "https://localhost/hook",
    "https://localhost:9000/hook",
    "https://127.0.0.1:9000/hook",
    "https://203.0.113.7/hook",
    "https://[2001:db8::1]/hook",
    "https://[2001:db8::1]:8443/hook",
  ])("%s", (url) => {
    expect(putWebhookBody.parse({ url })).toEqual({ url });
  });

  test("an address of 2048 characters, and not one of 2049", () => {
    expect(putWebhookBody.parse({ url: longest })).toEqual({ url: longest });
    expect(putWebhookBody.safeParse({ url: `${longest}a` }).success).toBe(false);
  });
});

describe("refused", () => {
  test.each([
    ["another scheme", "http://example.com/hook"],
    ["another scheme", "ftp://example.com/hook"],
    ["another scheme", "wss://example.com/hook"],
    ["another scheme", "file:///etc/passwd"],
    ["another scheme", "javascript:alert(1)"],
    ["another scheme", "data:text/plain,hi"],
    ["another scheme", "httpss://example.com"],
    ["a scheme that the parser would respell", "HTTPS://example.com/hook"],
    ["a scheme that the parser would respell", "Https://example.com/hook"],
    ["no scheme", "example.com/hook"],
    ["no scheme", "//example.com/hook"],
    ["no scheme", "/hook"],
    ["no scheme", "://example.com"],
    ["slashes that the parser would mend", "https:example.com/hook"],
    ["slashes that the parser would mend", "https:/example.com/hook"],
    ["slashes that the parser would mend", "https:///example.com/hook"],
    ["slashes that the parser would mend", "https:////example.com/hook"],
    ["slashes that the parser would mend", "https:\\\\example.com\\hook"],
    ["slashes that the parser would mend", "https://example.com\\@other.example/hook"],
    ["no host", "https://"],
    ["no host", "https:///"],
    ["no host", "https://?x"],
    ["no host", "https://:8443/hook"],
    ["a user", "https://user@example.com/hook"],
    ["a user and a password", "https://user:pw@example.com/hook"],
    ["a password", "https://:pw@example.com/hook"],
    ["a user, encoded", "https://us%40er@example.com/hook"],
    ["an empty user", "https://@example.com/hook"],
    ["an empty user and password", "https://:@example.com/hook"],
    ["a host that looks like another", "https://example.com@other.example/hook"],
    ["a fragment", "https://example.com/hook#part"],
    ["an empty fragment", "https://example.com/hook#"],
    ["a fragment after a query", "https://example.com/?a=1#b"],
    ["a port out of range", "https://example.com:65536/hook"],
    ["a port that is no number", "https://example.com:https/hook"],
    ["a broken address", "https://[2001:db8::1/hook"],
    ["a broken address", "https://[nonsense]/hook"],
    ["a broken address", "https://256.256.256.256/hook"],
    ["a broken host", "https://exa%00mple.com/hook"],
    ["a broken host", "https://exa<mple.com/hook"],
    ["a broken host", "https://exa^mple.com/hook"],
    ["white space in front", " https://example.com/hook"],
    ["white space behind", "https://example.com/hook "],
    ["white space inside", "https://exam ple.com/hook"],
    ["white space inside", "https://example.com/my hook"],
    ["white space alone", " "],
    ["white space alone", "\t\n"],
    ["a line break", "https://example.com/\r\nX-Injected: 1"],
    ["a tab that the parser would drop", "https://exam\tple.com/hook"],
    ["a control character", "https://example.com/\u0001"],
    ["a control character", "https://example.com/\u007f"],
    ["a NUL", "https://example.com/\u0000"],
    ["a lone surrogate", "https://example.com/\ud800"],
    ["a wide space", "https://example.com/\u3000"],
    ["junk", "not a url"],
    ["junk", "https"],
    ["junk", "null"],
  ])("%s: %j", (_why, url) => {
    expect(putWebhookBody.safeParse({ url }).success).toBe(false);
  });

  test.each([[null], [1], [true], [["https://example.com"]], [{ href: "https://example.com" }], [undefined]])(
    "%j, which is not text",
    (url) => {
      expect(putWebhookBody.safeParse({ url }).success).toBe(false);
    },
  );
});
