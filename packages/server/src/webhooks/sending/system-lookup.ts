// Looks names up the way the rest of this host does (hosts file, search domains), without letting slow names stall
// the others: dns.lookup blocks a thread for as long as a name server stays silent, so only a few run at once, and a
// name that has waited for half a second is asked for over the network in parallel.
import dns from "node:dns/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Lookup, ResolvedAddress } from "./cached-lookup.ts";
import { ackTimeoutMs, threadLookupPatienceMs, threadLookupsMaxCount } from "./sending-limits.ts";

export interface NameServices {
  readonly lookup: Lookup;
  readonly resolve4: (hostname: string) => Promise<readonly string[]>;
  readonly resolve6: (hostname: string) => Promise<readonly string[]>;
}

const systemServices: NameServices = {
  lookup: (hostname) => dns.lookup(hostname, { all: true, verbatim: true }),
  resolve4: (hostname) => dns.resolve4(hostname),
  resolve6: (hostname) => dns.resolve6(hostname),
};

export function createSystemLookup(services: NameServices = systemServices): Lookup {
  const waiting: (() => void)[] = [];
  let running = 0;

  const onThread = async (hostname: string, isOver: () => boolean) => {
    if (running >= threadLookupsMaxCount) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return isOver() ? [] : await services.lookup(hostname);
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };

  return async (hostname) => {
    let isOver = false;
    const over = new AbortController();
    const wait = { signal: over.signal, ref: false };
    const thread = onThread(hostname, () => isOver);
    const network = delay(threadLookupPatienceMs, undefined, wait)
      .then(() => resolveOverNetwork(services, hostname))
      // No answer this way says nothing: the name may be in the hosts file. The thread decides.
      .catch(() => thread);
    // Nobody waits for longer, so that a lookup still in line by then need not take a thread.
    const tooLate = delay(ackTimeoutMs, undefined, wait).then(() => {
      throw new Error(`No answer for ${hostname}`);
    });
    try {
      return await Promise.race([thread, network, tooLate]);
    } finally {
      isOver = true;
      over.abort();
      for (const left of [thread, network, tooLate]) left.catch(() => undefined);
    }
  };
}

async function resolveOverNetwork(
  { resolve4, resolve6 }: NameServices,
  hostname: string,
): Promise<readonly ResolvedAddress[]> {
  const [six, four] = await Promise.allSettled([resolve6(hostname), resolve4(hostname)]);
  const addresses = [
    ...(six.status === "fulfilled" ? six.value.map((address) => ({ address, family: 6 })) : []),
    ...(four.status === "fulfilled" ? four.value.map((address) => ({ address, family: 4 })) : []),
  ];
  if (addresses.length === 0) throw new Error(`No addresses over the network for ${hostname}`);
  return addresses;
}
