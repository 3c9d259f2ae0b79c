// The keys as one process knows them: which one signs, and which ones verify. Follows the database within seconds.
import type { KeyObject } from "node:crypto";
import { receiptTyp, userTokenTyp } from "@coinslot/contract";
import type { CryptoKey } from "jose";
import type { Sql } from "../database/connect.ts";
import type { Log } from "../log.ts";
import { StartupError } from "../startup-error.ts";
import type { KeyDeps } from "./ensure-keys.ts";
import { encodeHead } from "./sign-token.ts";
import {
  importPublicKey,
  openPrivateKey,
  type PublicJwk,
  type SigningKeyRow,
  type SigningKeyState,
} from "./signing-key.ts";

/** How often a process looks for a rotation or revocation done elsewhere. */
export const keyRefreshMs = 2_000;
/** A receipt with an unknown kid makes the process look at once, but no more often than this. */
const unknownKidRefreshMs = 1_000;

export interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
}

export interface Keyring {
  /** The key that signs now. */
  active(): SigningKey;
  /** The public key of a kid, or undefined when no published key has it. */
  find(kid: string): Promise<KeyObject | undefined>;
  /** The public key of a token whose encoded header is the one that its key and type are given when signing. */
  findByHead(typ: string, head: string): KeyObject | undefined;
  /** Whether this installation signs, or has ever signed, as this issuer. */
  isIssuer(url: unknown): boolean;
  /** The published key set. */
  jwks(): { readonly keys: PublicJwk[] };
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

interface Snapshot {
  readonly fingerprint: string;
  readonly active: SigningKey;
  readonly publicKeys: ReadonlyMap<string, KeyObject>;
  readonly publicKeysByHead: ReadonlyMap<string, KeyObject>;
  readonly issuers: ReadonlySet<unknown>;
  readonly jwks: { readonly keys: PublicJwk[] };
}

export interface KeyringDeps extends KeyDeps {
  readonly sql: Sql;
  readonly log: Log;
}

export async function openKeyring(deps: KeyringDeps): Promise<Keyring> {
  let snapshot = await loadSnapshot(deps, null);
  let lookedAtMs = deps.clock.nowMs();
  let lastLook: Promise<unknown> = Promise.resolve();
  let nextLook: Promise<void> | null = null;

  /** Sees all that was committed before the call: a look that has begun may have missed it, so the next is awaited. */
  const refresh = (): Promise<void> => {
    if (nextLook === null) {
      nextLook = lastLook.then(async () => {
        nextLook = null;
        lookedAtMs = deps.clock.nowMs();
        snapshot = await loadSnapshot(deps, snapshot);
      });
      lastLook = nextLook.catch(() => undefined);
    }
    return nextLook;
  };

  const stopping = new AbortController();
  const follow = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await deps.clock.sleep(keyRefreshMs, stopping.signal);
      if (stopping.signal.aborted) return;
      await refresh().catch((error: unknown) =>
        deps.log.warn({ err: error }, "Could not look for new signing keys"),
      );
    }
  };
  const following = follow();

  return {
    active: () => snapshot.active,
    async find(kid) {
      const known = snapshot.publicKeys.get(kid);
      if (known !== undefined || deps.clock.nowMs() - lookedAtMs < unknownKidRefreshMs) return known;
      await refresh();
      return snapshot.publicKeys.get(kid);
    },
    findByHead: (typ, head) => snapshot.publicKeysByHead.get(`${typ} ${head}`),
    isIssuer: (url) => snapshot.issuers.has(url),
    jwks: () => snapshot.jwks,
    refresh,
    async stop() {
      stopping.abort();
      await following;
    },
  };
}

async function loadSnapshot(deps: KeyringDeps, known: Snapshot | null): Promise<Snapshot> {
  const rows = await deps.sql<SigningKeyRow[]>`
    SELECT kid, state, public_jwk, private_sealed, created_at FROM signing_keys
    WHERE state <> 'REVOKED' ORDER BY created_at, kid`;
  const issuers = await deps.sql<{ url: string }[]>`SELECT url FROM issuers ORDER BY url`;
  const fingerprint = [
    ...rows.map((row) => `${row.kid} ${row.state}`),
    ...issuers.map((row) => row.url),
  ].join();
  if (known !== null && known.fingerprint === fingerprint) return known;

  const open = async (state: SigningKeyState): Promise<SigningKey> => {
    const row = rows.find((candidate) => candidate.state === state);
    if (row === undefined || row.privateSealed === null) throw new Error(`No signing key is ${state}.`);
    const { kid, privateSealed } = row;
    const privateKey = await openPrivateKey({ kid, privateSealed }, deps.masterKey).catch(() => {
      throw new StartupError(
        "COINSLOT_MASTER_KEY does not open the signing keys in this database. Set the key that they were made with.",
      );
    });
    return { kid, privateKey };
  };
  const active = await open("ACTIVE");
  // On start the next key must open as well: once a rotation has made it the only one it is too late to find out.
  if (known === null) await open("NEXT");
  const publicKeys = new Map<string, KeyObject>();
  for (const row of rows)
    publicKeys.set(row.kid, known?.publicKeys.get(row.kid) ?? importPublicKey(row.publicJwk));
  return {
    fingerprint,
    active,
    publicKeys,
    publicKeysByHead: new Map(
      [...publicKeys].flatMap(([kid, key]) =>
        [receiptTyp, userTokenTyp].map((typ) => [`${typ} ${encodeHead(typ, kid)}`, key] as const),
      ),
    ),
    issuers: new Set(issuers.map((row) => row.url)),
    jwks: { keys: rows.map((row) => row.publicJwk) },
  };
}
