import { createSecretKey, type KeyObject, randomBytes, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ApplicationType } from '@sluice/access';
import { fromBase62, toBase62 } from './base62.ts';
import { hmacText } from './hmac-text.ts';

export const credentialSettings = {
  KEY_PEPPER: {
    type: 'string',
    minLength: 32,
    writeOnly: true,
    description: 'Secret for the hashes of API keys. It must be the same in all services',
  },
} as const;

export const keyEnvironmentSettings = {
  KEY_ENVIRONMENT: {
    type: 'string',
    pattern: '^[a-z0-9]{1,16}$',
    default: 'live',
    description: 'Name of the installation. New API keys contain it',
  },
} as const;

const kinds: Record<ApplicationType | 'session', string> = {
  private: 'prv',
  public: 'pub',
  management: 'mgt',
  session: 'ses',
};

/** `svc_<environment>_<kind>_<256 random bits, base 62><CRC-32 of all before, base 62>` */
const keyPattern = /^svc_[a-z0-9]{1,16}_(?:prv|pub|mgt|ses)_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/;
const checksumLength = 6;
const secretLength = 43 + checksumLength;

/** Show it once and store only its {@link hashKey}. */
export function generateApiKey(environment: string, type: ApplicationType | 'session'): string {
  const random = toBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), 43);
  const body = `svc_${environment}_${kinds[type]}_${random}`;
  return body + checksum(body);
}

/** Checks form and checksum, without a look-up. */
export function isWellFormedApiKey(text: string): boolean {
  if (!keyPattern.test(text)) return false;
  return fromBase62(text, text.length - checksumLength) === crc32(text.slice(0, -checksumLength));
}

/**
 * The last four characters of the random part, by which its holder can tell a key from others. They leave 39 unknown
 * characters; the checksum, which depends on all of them, is no part of it.
 */
export function lastFourOf(key: string): string {
  return key.slice(-checksumLength - 4, -checksumLength);
}

export function isSessionKey(key: string): boolean {
  return key.endsWith('_ses_', key.length - secretLength);
}

function checksum(body: string): string {
  return toBase62(crc32(body), checksumLength);
}

export function generateNonce(): string {
  return generateProxyKey();
}

/** For a cookie, or a one-time link. Store only its {@link hashKey}. */
export function generateSecret(): string {
  return toBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), 43);
}

export function isWellFormedSecret(text: string): boolean {
  return /^[0-9A-Za-z]{43}$/.test(text);
}

export function generateProxyKey(): string {
  let text = '';
  for (let i = 0; i < 32; i++) text += toBase62(randomInt(62), 1);
  return text;
}

export function isWellFormedProxyKey(text: string): boolean {
  return /^[0-9A-Za-z]{32}$/.test(text);
}

export function readPepper(text: string): KeyObject {
  return createSecretKey(text, 'utf8');
}

/** HMAC-SHA-256(pepper, key): the only stored form of an API key, by which it is found. */
export function hashKey(pepper: KeyObject, key: string): Buffer {
  return bytesOf(hashKeyText(pepper, key));
}

/** {@link hashKey} with one character for each byte, because caches find a text faster than bytes. */
export function hashKeyText(pepper: KeyObject, key: string): string {
  return hmacText(pepper, key);
}

export function bytesOf(hashText: string): Buffer {
  return Buffer.from(hashText, 'latin1');
}
