// Builds the request of a delivery: the same bytes on every attempt, and where they go.
import { isIP } from "node:net";

export interface WebhookRequest {
  readonly origin: string;
  /** Without brackets, and without the trailing dot of a fully qualified name: what certificates are made out to. */
  readonly hostname: string;
  readonly isAddress: boolean;
  readonly port: number;
  readonly path: string;
  readonly body: string;
  /** Those the connection does not write by itself. */
  readonly ownHeaders: Readonly<Record<string, string>>;
  /** All of them, as they go over the wire. */
  readonly headers: Readonly<Record<string, string>>;
}

const ownHeaders = { "Content-Type": "application/json", "User-Agent": "Service-Webhooks/1" } as const;

/** Null when the URL is not one that webhooks go to. */
export function buildRequest(url: string, receiptJwt: string): WebhookRequest | null {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || parsed.protocol !== "https:" || parsed.hostname === "") return null;
  if (parsed.username !== "" || parsed.password !== "") return null;
  const hostname = parsed.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  const body = JSON.stringify({ receiptJwt });
  return {
    origin: parsed.origin,
    hostname,
    isAddress: isIP(hostname) !== 0,
    port: parsed.port === "" ? 443 : Number(parsed.port),
    path: parsed.pathname + parsed.search,
    body,
    ownHeaders,
    headers: {
      host: parsed.host,
      connection: "keep-alive",
      ...ownHeaders,
      "content-length": String(Buffer.byteLength(body)),
    },
  };
}
