// Turns errors of the network into failures a person understands. No error's own message gets through: those name
// addresses and ports, and what they name may be inside.
import type { Failure, FailureCode, Phase } from "./failure.ts";
import { ackTimeoutMs } from "./sending-limits.ts";

type Explanation = readonly [code: FailureCode, sentence: string];

const reset: Explanation = ["connection_reset", "the connection was reset"];
const closed: Explanation = ["connection_reset", "the connection was closed before an answer came"];
const unreachable: Explanation = ["unreachable", "the receiver could not be reached"];
const untrusted: Explanation = ["certificate_untrusted", "the certificate's issuer is unknown"];
const selfSigned: Explanation = ["certificate_untrusted", "the certificate is self-signed"];
const outOfSockets: Explanation = ["busy", "this service could not open another connection"];

const byCode: Readonly<Record<string, Explanation>> = {
  ECONNREFUSED: ["connection_refused", "connection refused"],
  ECONNRESET: reset,
  ECONNABORTED: reset,
  EPIPE: reset,
  ETIMEDOUT: ["timed_out", "the network gave up"],
  EHOSTUNREACH: unreachable,
  EHOSTDOWN: unreachable,
  ENETUNREACH: unreachable,
  ENETDOWN: unreachable,
  EACCES: unreachable,
  EPERM: unreachable,
  EMFILE: outOfSockets,
  ENFILE: outOfSockets,
  ENOBUFS: outOfSockets,
  EADDRNOTAVAIL: outOfSockets,
  CERT_HAS_EXPIRED: ["certificate_expired", "the certificate has expired"],
  CERT_NOT_YET_VALID: ["certificate_not_yet_valid", "the certificate is not valid yet"],
  ERR_TLS_CERT_ALTNAME_INVALID: ["certificate_wrong_name", "the certificate is for another name"],
  DEPTH_ZERO_SELF_SIGNED_CERT: selfSigned,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UND_ERR_HEADERS_OVERFLOW: ["headers_too_large", "the response headers are too large"],
};

const lookupByCode: Readonly<Record<string, Explanation>> = {
  ENOTFOUND: ["name_not_resolved", "the name did not resolve"],
  ENODATA: ["name_not_resolved", "the name did not resolve"],
};

export function explainTimeout(phase: Phase): Failure {
  return { code: "timed_out", sentence: `timed out after ${ackTimeoutMs / 1000} s while ${phase}` };
}

export function explainError(error: unknown, phase: Phase): Failure {
  const [code, sentence] = explain(errorCode(error), error, phase);
  const when = code === "connection_reset" || code === "timed_out" ? ` while ${phase}` : "";
  return { code, sentence: sentence + when };
}

function explain(code: string, error: unknown, phase: Phase): Explanation {
  if (phase === "looking up the name") {
    return lookupByCode[code] ?? ["name_lookup_failed", "the name could not be looked up"];
  }
  const known = byCode[code];
  if (known !== undefined) return known;
  if (phase === "completing the TLS handshake") {
    return isCertificateCode(code)
      ? ["certificate_untrusted", `the certificate was not accepted (${code})`]
      : ["tls_failed", "the TLS handshake failed"];
  }
  if (isNotHttp(code, error)) return ["invalid_response", "the answer is not valid HTTP"];
  if (code === "UND_ERR_SOCKET") return closed;
  if (code.startsWith("ERR_SSL_") || code === "EPROTO") return ["tls_failed", "the TLS connection broke"];
  return ["network_error", "the request failed"];
}

/** OpenSSL's names for what is wrong with a certificate, such as CERT_REVOKED or INVALID_PURPOSE. */
function isCertificateCode(code: string): boolean {
  return /^(CERT_|CRL_|INVALID_|PATH_|UNABLE_|ERR_TLS_CERT|HOSTNAME_|ERROR_IN_CERT)[A-Z_]*$/.test(code);
}

function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** undici's parser does not always set a code, and its "bad response" and "bad upgrade" share one with a closed socket. */
function isNotHttp(code: string, error: unknown): boolean {
  if (code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH" || code.startsWith("HPE_")) return true;
  if (!(error instanceof Error)) return false;
  return error.name === "HTTPParserError" || (code === "UND_ERR_SOCKET" && error.message.startsWith("bad "));
}
