// Builds the request of a delivery: the same bytes on every attempt, and where they go.
import { isIP } from "node:net";

export interface Target {
  readonly origin: string;
  /** As in the URL, with a port that is not 443. */
  readonly host: string;
  /** Without brackets, and without the trailing dot of a fully qualified name: what certificates are made out to. */
  readonly hostname: string;
  readonly isAddress: boolean;
  readonly port: number;
  readonly path: string;
}

export interface WebhookRequest {
  readonly target: Target;
  readonly body: string;
  /** Those the connection does not write by itself. */
  readonly ownHeaders: Readonly<Record<string, string>>;
  /** All of them, as they go over the wire. */
  readonly headers: Readonly<Record<string, string>>;
}

const ownHeaders = { "Content-Type": "application/json", "User-Agent": "Service-Webhooks/1" } as const;

/** Null when the URL is not one that webhooks go to. */
export function parseTarget(url: string): Target | null {
  if (!URL.canParse(url)) return null;
  const { protocol, username, password, origin, host, hostname, port, pathname, search } = new URL(url);
  if (protocol !== "https:" || hostname === "" || username !== "" || password !== "") return null;
  const name = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  return {
    origin,
    host,
    hostname: name,
    isAddress: isIP(name) !== 0,
    port: port === "" ? 443 : Number(port),
    path: pathname + search,
  };
}

export function buildRequest(target: Target, receiptJwt: string): WebhookRequest {
  const body = JSON.stringify({ receiptJwt });
  return {
    target,
    body,
    ownHeaders,
    headers: {
      host: target.host,
      connection: "keep-alive",
      "Content-Type": ownHeaders["Content-Type"],
      "User-Agent": ownHeaders["User-Agent"],
      "content-length": String(Buffer.byteLength(body)),
    },
  };
}

/** The same few are sent to again and again, and reading a URL took some 10 µs of each send in a CPU profile. */
export function rememberTargets(maxCount: number): typeof parseTarget {
  const targets = new Map<string, Target | null>();
  return (url) => {
    const known = targets.get(url);
    if (known !== undefined) return known;
    const target = parseTarget(url);
    const [oldest] = targets.keys();
    if (targets.size >= maxCount && oldest !== undefined) targets.delete(oldest);
    targets.set(url, target);
    return target;
  };
}
