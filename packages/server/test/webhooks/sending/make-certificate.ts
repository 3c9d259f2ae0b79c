// Makes X.509 certificates for tests, in JavaScript alone: a little DER around node:crypto's signatures.
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";

export interface Issued {
  readonly key: string;
  readonly cert: string;
}

export interface CertificateOptions {
  readonly names: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

export interface Authority {
  readonly ca: string;
  issue(options: CertificateOptions): Issued;
}

export function createAuthority(name = "Test authority"): Authority {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ca = certificate({
    subject: name,
    issuer: name,
    publicKey,
    signer: privateKey,
    isAuthority: true,
    names: [],
  });
  return {
    ca,
    issue(options) {
      const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const subject = options.names[0] ?? "nobody";
      const cert = certificate({
        ...options,
        subject,
        issuer: name,
        publicKey: own.publicKey,
        signer: privateKey,
      });
      return { cert, key: pemOf(own.privateKey) };
    },
  };
}

export function selfSigned(options: CertificateOptions): Issued {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const subject = options.names[0] ?? "nobody";
  return {
    cert: certificate({ ...options, subject, issuer: subject, publicKey, signer: privateKey }),
    key: pemOf(privateKey),
  };
}

interface Fields extends CertificateOptions {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly isAuthority?: boolean;
}

const dayMs = 24 * 60 * 60 * 1000;

function certificate(fields: Fields): string {
  const notBefore = fields.notBefore ?? new Date(Date.now() - dayMs);
  const notAfter = fields.notAfter ?? new Date(Date.now() + dayMs);
  const extensions = [
    extension(oids.basicConstraints, sequence(...(fields.isAuthority ? [der(0x01, Buffer.of(0xff))] : []))),
    ...(fields.names.length > 0
      ? [extension(oids.subjectAltName, sequence(...fields.names.map(altName)))]
      : []),
  ];
  const toSign = sequence(
    der(0xa0, der(0x02, Buffer.of(2))), // version 3
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(15)])), // serial number
    sequence(oids.ecdsaWithSha256),
    distinguishedName(fields.issuer),
    sequence(time(notBefore), time(notAfter)),
    distinguishedName(fields.subject),
    fields.publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign("sha256", toSign, fields.signer);
  const whole = sequence(
    toSign,
    sequence(oids.ecdsaWithSha256),
    der(0x03, Buffer.concat([Buffer.of(0), signature])),
  );
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

const oids = {
  ecdsaWithSha256: Buffer.from("06082a8648ce3d040302", "hex"),
  commonName: Buffer.from("0603550403", "hex"),
  basicConstraints: Buffer.from("0603551d13", "hex"),
  subjectAltName: Buffer.from("0603551d11", "hex"),
} as const;

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length = content.length;
  const prefix =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...prefix), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function extension(oid: Buffer, value: Buffer): Buffer {
  return sequence(oid, der(0x04, value));
}

function distinguishedName(name: string): Buffer {
  return sequence(der(0x31, sequence(oids.commonName, der(0x0c, Buffer.from(name)))));
}

function altName(name: string): Buffer {
  if (isIP(name) === 4) return der(0x87, Buffer.from(name.split(".").map(Number)));
  return der(0x82, Buffer.from(name));
}

function time(date: Date): Buffer {
  return der(0x18, Buffer.from(date.toISOString().replace(/[-:T]|\.\d+/g, "")));
}

function pemOf(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}
