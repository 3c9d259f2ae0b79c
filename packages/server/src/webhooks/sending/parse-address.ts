// Reads IP addresses and CIDR ranges into numbers, so that every spelling of an address is the same value.
import { isIP } from "node:net";

export interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

export interface Cidr extends Address {
  readonly prefix: number;
}

const mappedPrefix = 0xffffn;
const nat64Prefix = 0x64ff9bn << 64n;

/**
 * Null for what is no address, and for one with a zone: that is never the public internet. IPv4-mapped and NAT64
 * (64:ff9b::/96) addresses become the IPv4 address that the packets end up at.
 */
export function parseAddress(text: string): Address | null {
  const address = parseSpelling(text);
  if (address === null || address.bits === 32) return address;
  const prefix = address.value >> 32n;
  return prefix === mappedPrefix || prefix === nat64Prefix ? ipv4Inside(address) : address;
}

/** Null when the text is neither an address nor a range. An address alone is a range of one. */
export function parseCidr(text: string): Cidr | null {
  const [head = "", length, ...rest] = text.trim().split("/");
  const address = parseSpelling(head);
  if (address === null || rest.length > 0) return null;
  if (length !== undefined && !/^\d{1,3}$/.test(length)) return null;
  const prefix = length === undefined ? address.bits : Number(length);
  if (prefix > address.bits) return null;
  const mapped = address.bits === 128 && prefix >= 96 && address.value >> 32n === mappedPrefix;
  return mapped ? { ...ipv4Inside(address), prefix: prefix - 96 } : { ...address, prefix };
}

export function isInside(address: Address, range: Cidr): boolean {
  if (address.bits !== range.bits) return false;
  const hostBits = BigInt(range.bits - range.prefix);
  return address.value >> hostBits === range.value >> hostBits;
}

function parseSpelling(text: string): Address | null {
  const family = isIP(text);
  if (family === 4) return { bits: 32, value: ipv4Value(text) };
  return family === 6 && !text.includes("%") ? { bits: 128, value: ipv6Value(text) } : null;
}

function ipv4Inside(address: Address): Address {
  return { bits: 32, value: address.value & 0xffff_ffffn };
}

function ipv4Value(text: string): bigint {
  return text.split(".").reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

/** The text is known to be valid, so that only the two shorthands need care: `::` and a dotted IPv4 tail. */
function ipv6Value(text: string): bigint {
  const [front = "", back] = text.split("::");
  const head = groups(front);
  const tail = groups(back ?? "");
  const zeros = new Array<bigint>(8 - head.length - tail.length).fill(0n);
  return [...head, ...zeros, ...tail].reduce((value, group) => (value << 16n) | group, 0n);
}

function groups(text: string): bigint[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (!group.includes(".")) return [BigInt(`0x${group}`)];
    const value = ipv4Value(group);
    return [value >> 16n, value & 0xffffn];
  });
}
