// Opens a TLS connection to a name, on an address that was checked: the one that is judged is the one connected to,
// so a name that changes its mind between two lookups gains nothing.
import tls from "node:tls";
import type { AttemptClock } from "./attempt-clock.ts";
import type { Target } from "./build-request.ts";
import type { Lookup, ResolvedAddress } from "./cached-lookup.ts";
import type { AddressCheck } from "./check-address.ts";
import { explainError } from "./explain-failure.ts";
import type { Failure, Phase } from "./failure.ts";
import { addressTriesMaxCount, addressTryMs } from "./sending-limits.ts";

export interface Connector {
  readonly lookup: Lookup;
  readonly isAllowed: AddressCheck;
  readonly secureContext: tls.SecureContext;
  readonly nowMs: () => number;
}

/** Written as the attempt goes on, so that it can be read whenever the attempt ends. */
export interface Progress {
  phase: Phase;
  lookupMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
}

/** A failure, or a socket that has completed its handshake. When the clock ends, nothing more goes out. */
export async function openPinned(
  connector: Connector,
  target: Target,
  progress: Progress,
  clock: AttemptClock,
): Promise<tls.TLSSocket | Failure> {
  let addresses: readonly string[];
  try {
    addresses = await lookUp(connector, target, progress, clock);
  } catch (error) {
    return explainError(error, "looking up the name");
  }
  if (addresses.length === 0) return { code: "name_not_resolved", sentence: "the name did not resolve" };
  // Every one of them, not only the one that would be used: mixed records are how a guard gets tested.
  if (!addresses.every(connector.isAllowed)) {
    return { code: "address_not_allowed", sentence: "address not allowed: webhooks may not go there" };
  }
  let failure: Failure = { code: "unreachable", sentence: "the receiver could not be reached" };
  const tries = addresses.slice(0, addressTriesMaxCount);
  for (const [index, address] of tries.entries()) {
    if (clock.ended !== null) break;
    const tryMs = index < tries.length - 1 ? addressTryMs : null;
    const outcome = await connect(connector, target, address, tryMs, progress, clock);
    if (outcome instanceof tls.TLSSocket) return outcome;
    failure = outcome;
    if (progress.phase !== "connecting") break;
  }
  return failure;
}

async function lookUp(
  { lookup, nowMs }: Connector,
  { hostname, isAddress }: Target,
  progress: Progress,
  clock: AttemptClock,
): Promise<readonly string[]> {
  if (isAddress) return [hostname];
  progress.phase = "looking up the name";
  const startedMs = nowMs();
  const gaveUp = new Promise<never>((_, reject) => {
    clock.onEnd = () => reject(new Error("gave up"));
    if (clock.ended !== null) clock.onEnd();
  });
  const found = await Promise.race([lookup(hostname), gaveUp]);
  progress.lookupMs = nowMs() - startedMs;
  return alternateFamilies(found);
}

/** In the resolver's order, but not all of one family first: it may be the one that does not work here. */
function alternateFamilies(found: readonly ResolvedAddress[]): readonly string[] {
  const first = found.filter(({ family }) => family === found[0]?.family);
  const second = found.filter(({ family }) => family !== found[0]?.family);
  return Array.from({ length: Math.max(first.length, second.length) }, (_, index) => [
    first[index]?.address,
    second[index]?.address,
  ])
    .flat()
    .filter((address) => address !== undefined);
}

function connect(
  { secureContext, nowMs }: Connector,
  { hostname, isAddress, port }: Target,
  address: string,
  tryMs: number | null,
  progress: Progress,
  clock: AttemptClock,
): Promise<tls.TLSSocket | Failure> {
  return new Promise((resolve) => {
    progress.phase = "connecting";
    let isDone = false;
    let phaseStartedMs = nowMs();
    const socket = tls.connect({
      host: address,
      port,
      ...(isAddress ? {} : { servername: hostname }),
      secureContext,
      ALPNProtocols: ["http/1.1"],
      // Said aloud, so that no environment variable turns it off.
      rejectUnauthorized: true,
    });
    const finish = (outcome: tls.TLSSocket | Failure) => {
      if (isDone) return;
      isDone = true;
      clearTimeout(timer);
      if (!(outcome instanceof tls.TLSSocket)) socket.destroy();
      resolve(outcome);
    };
    const fail = (error: unknown) => finish(explainError(error, progress.phase));
    const giveUp = () => fail(Object.assign(new Error("gave up"), { code: "ETIMEDOUT" }));
    const timer = tryMs === null ? undefined : setTimeout(giveUp, tryMs);
    clock.onEnd = giveUp;
    // Stays on for the socket's life: an error nobody listens to would end the process.
    socket.on("error", fail);
    socket.once("close", () => fail(Object.assign(new Error("closed"), { code: "ECONNRESET" })));
    socket.once("connect", () => {
      clearTimeout(timer);
      progress.connectMs = nowMs() - phaseStartedMs;
      progress.phase = "completing the TLS handshake";
      phaseStartedMs = nowMs();
    });
    socket.once("secureConnect", () => {
      progress.tlsMs = nowMs() - phaseStartedMs;
      socket.setNoDelay(true);
      finish(socket);
    });
  });
}
