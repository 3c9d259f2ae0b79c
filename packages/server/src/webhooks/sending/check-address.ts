// Decides whether webhooks may go to an address: the guard against being turned on the inner network.
import { blockedRanges } from "./address-ranges.ts";
import { type Address, type Cidr, isInside, parseAddress, parseCidr } from "./parse-address.ts";

export type AddressCheck = (address: string) => boolean;

export interface AddressCheckOptions {
  /** The one exemption. */
  readonly allowCidrs: readonly string[];
  /** Addresses of this host: blocked even when they are public. Asked anew each time, as they come and go. */
  readonly ownAddresses: () => readonly string[];
}

export function createAddressCheck({ allowCidrs, ownAddresses }: AddressCheckOptions): AddressCheck {
  const allowed = allowCidrs.map(mustParseCidr);
  const blocked = blockedRanges.map(([cidr]) => mustParseCidr(cidr));
  return (text) => {
    const address = parseAddress(text);
    if (address === null) return false;
    if (allowed.some((range) => isInside(address, range))) return true;
    if (blocked.some((range) => isInside(address, range))) return false;
    return !ownAddresses().some((own) => isSame(parseAddress(own), address));
  };
}

function isSame(one: Address | null, other: Address): boolean {
  return one !== null && one.bits === other.bits && one.value === other.value;
}

function mustParseCidr(text: string): Cidr {
  const range = parseCidr(text);
  if (range === null) throw new Error(`Not an address range: ${text}`);
  return range;
}
