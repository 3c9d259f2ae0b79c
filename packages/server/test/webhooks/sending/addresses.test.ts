// Which addresses webhooks may go to: every notation, every range with its first, last and neighbouring addresses.
import { isIP } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAddressCheck } from "../../../src/webhooks/sending/check-address.ts";
import { parseCidr } from "../../../src/webhooks/sending/parse-address.ts";

const nothing = { allowCidrs: [], ownAddresses: () => [] };
const isAllowed = createAddressCheck(nothing);

/** First and last of a range, then the addresses just outside it, where those are public. */
const ranges: [what: string, first: string, last: string, ...outside: string[]][] = [
  ["this network", "0.0.0.0", "0.255.255.255", "1.0.0.0"],
  ["private 10", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"],
  ["carrier-grade NAT", "100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"],
  ["loopback", "127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"],
  ["Azure's host agent", "168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"],
  ["link-local", "169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"],
  ["private 172", "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"],
  ["protocol assignments", "192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"],
  ["documentation 1", "192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"],
  ["6to4 relays", "192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"],
  ["private 192", "192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"],
  ["benchmarks", "198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"],
  ["documentation 2", "198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"],
  ["documentation 3", "203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"],
  ["multicast", "224.0.0.0", "239.255.255.255", "223.255.255.255"],
  ["reserved and broadcast", "240.0.0.0", "255.255.255.255"],
  ["unspecified and loopback 6", "::", "::1"],
  ["IPv4-compatible", "::2", "::ffff:ffff"],
  ["IPv4-translated", "::ffff:0:0:0", "::ffff:0:ffff:ffff"],
  ["local NAT64", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"],
  ["between the NAT64 prefixes", "64:ff9b::1:0:0", "64:ff9b:0:ffff:ffff:ffff:ffff:ffff"],
  ["discard only", "100::", "100::ffff:ffff:ffff:ffff"],
  ["below the public ones", "::8000:0:0:0", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"],
  ["protocol assignments 6", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2000:ffff::", "2001:200::"],
  ["Teredo", "2001:0:0:0::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["benchmarks 6", "2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff"],
  ["ORCHID", "2001:10::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff"],
  [
    "documentation 6",
    "2001:db8::",
    "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:db7:ffff::",
    "2001:db9::",
  ],
  ["6to4", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff::", "2003::"],
  ["documentation 7", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe:ffff::", "3fff:1000::"],
  ["above the public ones", "4000::", "5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:ffff::"],
  ["segment routing", "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["unassigned", "6000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["unique-local", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["link-local 6", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["site-local", "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["multicast 6", "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
];

const blocked = [
  ...ranges.flatMap(([, first, last]) => [first, last]),
  // Metadata services.
  "169.254.169.254",
  "169.254.170.2",
  "169.254.169.253",
  "100.100.100.200",
  "192.0.0.192",
  "fd00:ec2::254",
  "fd00:ec2::23",
  "fd20:ce::254",
  // The same address in every spelling of IPv6.
  "::ffff:127.0.0.1",
  "::FFFF:127.0.0.1",
  "::ffff:7f00:1",
  "0:0:0:0:0:ffff:7f00:0001",
  "0000:0000:0000:0000:0000:ffff:127.0.0.1",
  "::ffff:10.0.0.1",
  "::ffff:a00:1",
  "::ffff:169.254.169.254",
  "::ffff:a9fe:a9fe",
  "::ffff:192.168.1.1",
  "::ffff:0.0.0.0",
  "::ffff:100.64.0.1",
  "::127.0.0.1",
  "::7f00:1",
  "::10.0.0.1",
  "::8.8.8.8",
  "::ffff:0:127.0.0.1",
  "::ffff:0:8.8.8.8",
  "64:ff9b::127.0.0.1",
  "64:ff9b::7f00:1",
  "64:ff9b::10.0.0.1",
  "64:ff9b::a9fe:a9fe",
  "0064:ff9b:0:0:0:0:a9fe:a9fe",
  "64:ff9b::192.168.0.1",
  "64:ff9b:1::8.8.8.8",
  "64:ff9b:1::a00:1",
  "2002:7f00:1::",
  "2002:a00:1::1",
  "2002:a9fe:a9fe::",
  "2002:808:808::",
  "2001:0:7f00:1::",
  "2001::8.8.8.8",
  "0:0:0:0:0:0:0:1",
  "0000:0000:0000:0000:0000:0000:0000:0001",
  "0:0:0:0:0:0:0:0",
  "::0",
  "::0.0.0.1",
  "::1.0.0.0",
  // Zones, even on addresses that would pass.
  "fe80::1%eth0",
  "fe80::1%1",
  "fe80::1%25eth0",
  "2606:4700::1111%eth0",
  "::1%lo",
  "ff02::1%eth0",
  // What is no address.
  "",
  " ",
  "localhost",
  "example.com",
  "127.1",
  "0x7f.0.0.1",
  "0177.0.0.1",
  "2130706433",
  "8.8.8.8 ",
  " 8.8.8.8",
  "8.8.8.8/32",
  "8.8.8",
  "8.8.8.8.8",
  "[::1]",
  "[2606:4700::1111]",
  "08.8.8.8",
  "256.1.1.1",
  "1.2.3.4:80",
  "::ffff:8.8.8",
  ":::",
  "g::1",
  "1::2::3",
];

const allowed = [
  ...ranges.flatMap(([, , , ...outside]) => outside),
  "1.1.1.1",
  "8.8.8.8",
  "93.184.216.34",
  "172.217.16.46",
  "192.0.43.8",
  "198.41.0.4",
  "203.0.114.1",
  "223.255.255.254",
  "2606:4700:4700::1111",
  "2001:4860:4860::8888",
  "2a00:1450:4001:80b::200e",
  "2400:cb00::1",
  "2620:fe::fe",
  "2001:500:2::c",
  // Forms of a public IPv4 address.
  "::ffff:8.8.8.8",
  "::ffff:808:808",
  "64:ff9b::8.8.8.8",
  "64:ff9b::808:808",
];

/** Hosts as someone might write them in a URL; all of them are an inner address. */
const literals = [
  "127.0.0.1",
  "127.1",
  "127.0.1",
  "2130706433",
  "0x7f000001",
  "0x7f.0.0.1",
  "0x7f.1",
  "0177.0.0.1",
  "0177.1",
  "017700000001",
  "127.0.0.1.",
  "0",
  "0.0",
  "0x0",
  "0.0.0.0",
  "10.1",
  "0xa.1",
  "012.1",
  "167772161",
  "0x0a000001",
  "192.168.1",
  "0xc0.0xa8.0.1",
  "0300.0250.0.1",
  "3232235521",
  "169.254.43518",
  "0xa9fea9fe",
  "2852039166",
  "0251.0376.0251.0376",
  "169.254.169.254",
  "172.1048577",
  "0xac100001",
  "4294967295",
  "0xffffffff",
  "１２７.０.０.１",
  "127。0。0。1",
  "①②⑦.⓪.⓪.①",
  "%31%32%37.0.0.1",
  "0X7F.1",
  "100.6553601",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[0:0:0:0:0:ffff:127.0.0.1]",
  "[::127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[64:ff9b:1::7f00:1]",
  "[2002:7f00:1::]",
  "[2001:0:1::]",
  "[fe80::1]",
  "[fd00:ec2::254]",
  "[fc00::1]",
  "[ff02::1]",
  "[::FFFF:A9FE:A9FE]",
  "[2001:db8::1]",
];

describe("the guard", () => {
  it("knows more than 200 addresses here", () => {
    expect(new Set([...blocked, ...allowed, ...literals]).size).toBeGreaterThan(200);
  });

  it.each(blocked)("blocks %j", (address) => {
    expect(isAllowed(address)).toBe(false);
  });

  it.each(allowed)("allows %j", (address) => {
    expect(isAllowed(address)).toBe(true);
  });

  it.each(literals)("blocks https://%s/", (host) => {
    const { hostname } = new URL(`https://${host}/`);
    const address = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
    expect(isIP(address)).not.toBe(0);
    expect(isAllowed(address)).toBe(false);
  });

  it("blocks this host's own addresses, in every form, even public ones", () => {
    const own = ["93.184.216.34", "2606:4700::5", "fe80::1%eth0", "nonsense"];
    const check = createAddressCheck({ allowCidrs: [], ownAddresses: () => own });
    for (const address of [
      "93.184.216.34",
      "::ffff:93.184.216.34",
      "64:ff9b::5db8:d822",
      "2606:4700::5",
      "2606:4700:0::0:5",
    ]) {
      expect(check(address), address).toBe(false);
    }
    expect(check("93.184.216.35")).toBe(true);
    expect(check("2606:4700::6")).toBe(true);
  });

  it("asks for this host's addresses each time", () => {
    const own: string[] = [];
    const check = createAddressCheck({ allowCidrs: [], ownAddresses: () => own });
    expect(check("93.184.216.34")).toBe(true);
    own.push("93.184.216.34");
    expect(check("93.184.216.34")).toBe(false);
  });

  it("judges every IPv4 address like its mapped and NAT64 forms", () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(isAllowed(`::ffff:${address}`)).toBe(isAllowed(address));
        expect(isAllowed(`64:ff9b::${address}`)).toBe(isAllowed(address));
        expect(isAllowed(`2002:${hex(address)}::`)).toBe(false);
        expect(isAllowed(`::${address}`)).toBe(false);
      }),
    );
  });

  it("judges every IPv6 address alike however it is written", () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const canonical = new URL(`https://[${address}]/`).hostname.slice(1, -1);
        expect(isAllowed(canonical)).toBe(isAllowed(address));
      }),
    );
  });
});

describe("allowCidrs", () => {
  it.each([
    [
      "10.0.0.0/8",
      ["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3", "::ffff:a00:1", "64:ff9b::10.0.0.1"],
      ["11.0.0.0.0", "192.168.0.1", "::10.0.0.1", "2002:a00:1::"],
    ],
    ["10.1.2.3", ["10.1.2.3"], ["10.1.2.2", "10.1.2.4"]],
    ["10.1.2.3/8", ["10.200.0.1"], ["127.0.0.1"]],
    ["::ffff:10.0.0.0/104", ["10.1.2.3", "::ffff:10.1.2.3"], ["127.0.0.1", "::1"]],
    ["fd12:3456::/32", ["fd12:3456::1", "FD12:3456:0:0::1"], ["fd12:3457::1", "::1"]],
    ["::1", ["::1", "0:0:0:0:0:0:0:1"], ["::2", "127.0.0.1"]],
    ["::/0", ["::1", "fe80::1"], ["127.0.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fe80::1%eth0"]],
    ["64:ff9b::/96", [], ["64:ff9b::7f00:1", "127.0.0.1"]],
    ["0.0.0.0/0", ["127.0.0.1", "169.254.169.254"], ["::1"]],
  ])("%s", (range, inside, outside) => {
    const check = createAddressCheck({ allowCidrs: [range], ownAddresses: () => ["10.1.2.3"] });
    for (const address of inside) expect(check(address), address).toBe(true);
    for (const address of outside) expect(check(address), address).toBe(false);
  });

  it.each([
    "",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "10.0.0/8",
    "::/129",
    "fe80::%eth0/10",
    "x",
    "10.0.0.0/8x",
  ])("refuses %j", (range) => {
    expect(parseCidr(range)).toBeNull();
    expect(() => createAddressCheck({ allowCidrs: [range], ownAddresses: () => [] })).toThrow(
      "Not an address range",
    );
  });
});

function hex(ipv4: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split(".").map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}
