// Which addresses count as one.
import { describe, expect, it } from "vitest";
import { addressKey, tooMany } from "./rate-limits.ts";

describe("addressKey", () => {
  it("is the address itself for IPv4, also when it comes mapped into IPv6", () => {
    expect(addressKey("203.0.113.7")).toBe("203.0.113.7");
    expect(addressKey("::ffff:203.0.113.7")).toBe("203.0.113.7");
    expect(addressKey("::FFFF:203.0.113.7")).toBe("203.0.113.7");
  });

  it.each([
    "::ffff:808:808",
    "::FFFF:0808:0808",
    "0:0:0:0:0:ffff:808:808",
    "0000:0000:0000:0000:0000:ffff:0808:0808",
    "0:0::ffff:8.8.8.8",
    "::0:ffff:808:808",
    "::ffff:8.8.8.8%eth0",
  ])("%s, mapped in another spelling, does not share one bucket with all of IPv4", (address) => {
    expect(addressKey(address)).toBe("8.8.8.8");
  });

  it.each([
    ["2001:db8:1:2::1", "2001:DB8:0001:02::1"],
    ["2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"],
    ["2001:db8::1", "2001:db8:0:0:1:2:3:4"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"],
    ["::1", "::2"],
    ["fe80::1%eth0", "fe80::2%eth0"],
  ])("%s and %s, of one /64, count as one", (a, b) => {
    expect(addressKey(a)).toBe(addressKey(b));
  });

  it.each([
    ["2001:db8:1:2::1", "2001:db8:1:3::1"],
    ["2001:db8::1", "2001:db9::1"],
    ["::1", "1::"],
    ["203.0.113.7", "203.0.113.8"],
    ["::ffff:808:808", "::ffff:808:809"],
    ["::ffff:0:0:0", "::ffff:0:0"],
  ])("%s and %s do not", (a, b) => {
    expect(addressKey(a)).not.toBe(addressKey(b));
  });
});

describe("tooMany", () => {
  it("never tells a caller to come back at once", () => {
    expect(tooMany(0)).toMatchObject({ code: "rate_limited", httpStatus: 429, retryAfterS: 1 });
    expect(tooMany(7)).toMatchObject({ retryAfterS: 7 });
  });
});
