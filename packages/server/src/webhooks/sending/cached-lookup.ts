// Remembers name lookups for a few seconds and asks once for a name that many want. The guard judges a remembered
// address like a new one, so that remembering weakens nothing.
import { ackTimeoutMs, failedLookupKeepMs, lookupKeepMs, lookupNamesMaxCount } from "./sending-limits.ts";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

interface Entry {
  readonly answer: Promise<readonly ResolvedAddress[]>;
  /** While the lookup runs: when nobody waits for it any more. A hung resolver is then asked again. */
  untilMs: number;
}

export function cachedLookup(lookup: Lookup, nowMs: () => number): Lookup {
  const entries = new Map<string, Entry>();

  const remember = (hostname: string): Entry => {
    const answer = ask(lookup, hostname);
    const entry: Entry = { answer, untilMs: nowMs() + ackTimeoutMs };
    answer.then(
      () => {
        entry.untilMs = nowMs() + lookupKeepMs;
      },
      () => {
        entry.untilMs = nowMs() + failedLookupKeepMs;
      },
    );
    entries.delete(hostname);
    entries.set(hostname, entry);
    const [oldest] = entries.keys();
    if (entries.size > lookupNamesMaxCount && oldest !== undefined) entries.delete(oldest);
    return entry;
  };

  return (hostname) => {
    const known = entries.get(hostname);
    return (known !== undefined && nowMs() < known.untilMs ? known : remember(hostname)).answer;
  };
}

/** A lookup that throws instead of rejecting is a failed lookup too. */
async function ask(lookup: Lookup, hostname: string): Promise<readonly ResolvedAddress[]> {
  return lookup(hostname);
}
