// Whom the sender believes: what Node trusts, and the operator's own certificates beside it.
import tls from "node:tls";

/** Made once: reading the roots takes some twenty milliseconds. */
export function createTrust(ca: string | undefined): tls.SecureContext {
  const minVersion = "TLSv1.2";
  return ca === undefined
    ? tls.createSecureContext({ minVersion })
    : tls.createSecureContext({ minVersion, ca: [...nodeRoots(), ca] });
}

/** From Node 22.15 on with those of NODE_EXTRA_CA_CERTS and --use-system-ca; before that, the bundled ones. */
function nodeRoots(): readonly string[] {
  // The types are Node 20's, which do not know the newer function.
  const { getCACertificates } = tls as { getCACertificates?: (type: "default") => string[] };
  return getCACertificates?.("default") ?? tls.rootCertificates;
}
