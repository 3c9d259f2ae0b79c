// What can go wrong with an attempt: a stable code for programs and a sentence for people.

export type FailureCode =
  /** The URL is not one that webhooks go to; nothing was sent. */
  | "invalid_url"
  /** The name leads to an address that webhooks must not reach; nothing was sent. */
  | "address_not_allowed"
  | "name_not_resolved"
  | "name_lookup_failed"
  | "timed_out"
  | "connection_refused"
  | "connection_reset"
  | "unreachable"
  | "certificate_expired"
  | "certificate_not_yet_valid"
  | "certificate_wrong_name"
  | "certificate_untrusted"
  | "tls_failed"
  | "redirect"
  | "status"
  | "headers_too_large"
  | "invalid_response"
  | "network_error"
  /** Our own limits, not the receiver's fault; nothing was sent. */
  | "busy"
  /** The caller gave up; the receiver may have got the request. */
  | "canceled";

export interface Failure {
  readonly code: FailureCode;
  readonly sentence: string;
}

/** What an attempt is doing, as the end of a sentence. */
export type Phase =
  | "looking up the name"
  | "connecting"
  | "completing the TLS handshake"
  | "sending the request"
  | "waiting for the response headers";
