// The addresses that webhooks never go to: each range, and what lives there.
// From the IANA special-purpose registries for IPv4 and IPv6, plus what clouds put on public-looking addresses.

export const blockedRanges: readonly (readonly [cidr: string, what: string])[] = [
  ["0.0.0.0/8", "this network; 0.0.0.0 reaches this host"],
  ["10.0.0.0/8", "private"],
  ["100.64.0.0/10", "carrier-grade NAT; Alibaba Cloud's metadata at 100.100.100.200"],
  ["127.0.0.0/8", "loopback"],
  ["168.63.129.16/32", "Azure's host agent, on a public address"],
  ["169.254.0.0/16", "link-local; the metadata of most clouds at 169.254.169.254"],
  ["172.16.0.0/12", "private"],
  ["192.0.0.0/24", "protocol assignments; Oracle Cloud's metadata at 192.0.0.192"],
  ["192.0.2.0/24", "documentation"],
  ["192.88.99.0/24", "retired 6to4 relays"],
  ["192.168.0.0/16", "private"],
  ["198.18.0.0/15", "benchmarks"],
  ["198.51.100.0/24", "documentation"],
  ["203.0.113.0/24", "documentation"],
  ["224.0.0.0/4", "multicast"],
  ["240.0.0.0/4", "reserved, and the broadcast address"],

  // Only 2000::/3 is handed out to the public internet; these three are everything else.
  [
    "::/3",
    "unspecified, loopback, IPv4-compatible and -translated, local NAT64 64:ff9b:1::/48, discard 100::/64",
  ],
  ["4000::/2", "unassigned, and segment routing 5f00::/16"],
  [
    "8000::/1",
    "unassigned, unique-local fc00::/7 (metadata at fd00:ec2::254), link-local, site-local, multicast",
  ],

  ["2001::/23", "protocol assignments: Teredo 2001::/32, benchmarks 2001:2::/48, ORCHID"],
  ["2001:db8::/32", "documentation"],
  ["2002::/16", "6to4: carries any IPv4 address"],
  ["3fff::/20", "documentation"],
];
