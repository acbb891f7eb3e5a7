import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

export interface Issued {
  certificate: string;
  key: string;
  privateKey: KeyObject;
  name: string;
}

/** For a host name or an IPv4 address (RFC 5280, in DER), valid for a day. Without an issuer it is an authority. */
export function issueCertificate(name: string, issuer?: Issued): Issued {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const [from, to] = [-1, 1].map((days) => der(0x17, utcTime(Date.now() + days * 86_400_000)));
  const address = isIPv4(name) ? Buffer.from(name.split('.').map(Number)) : undefined;
  const alternativeName = der(0x30, address ? der(0x87, address) : der(0x82, Buffer.from(name)));
  const isAuthority = der(0x30, der(0x01, Buffer.from(issuer ? [] : [0xff])).subarray(0, issuer ? 0 : 3));
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([Math.floor(Math.random() * 100) + 1])),
    ecdsaWithSha256,
    distinguishedName(issuer?.name ?? name),
    der(0x30, from ?? '', to ?? ''),
    distinguishedName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, extension('551d13', isAuthority), extension('551d11', alternativeName))),
  );
  const signature = sign('sha256', body, issuer?.privateKey ?? privateKey);
  const certificate = der(0x30, body, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    privateKey,
    name,
  };
}

const ecdsaWithSha256 = der(0x30, oid('2a8648ce3d040302'));

function der(tag: number, ...contents: (Buffer | string)[]): Buffer {
  const content = Buffer.concat(contents.map((part) => Buffer.from(part as string)));
  const size = content.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function distinguishedName(name: string): Buffer {
  return der(0x30, der(0x31, der(0x30, oid('550403'), der(0x0c, Buffer.from(name)))));
}

function extension(id: string, value: Buffer): Buffer {
  return der(0x30, oid(id), der(0x04, value));
}

function utcTime(ms: number): string {
  return `${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`;
}
