import crypto from 'node:crypto';

export const hashBytes = 32;

/** RFC 9162 section 2.1.1. */
const leafPrefix = '\0';
const nodePrefix = Buffer.from([1]);

/** In one call, because an object for each hash takes four times as long. */
const sha256: (data: string | Buffer) => Buffer =
  typeof crypto.hash === 'function'
    ? (data) => crypto.hash('sha256', data, 'buffer')
    : (data) => crypto.createHash('sha256').update(data).digest();

/** Undefined for any other spelling, because decoders differ in the characters that they pass over. */
export function readHash(text: unknown, encoding: 'hex' | 'base64'): Buffer | undefined {
  if (typeof text !== 'string') return undefined;
  const bytes = Buffer.from(text, encoding);
  return bytes.length === hashBytes && bytes.toString(encoding) === text ? bytes : undefined;
}

export const emptyRoot = sha256('');

export function hashLeaf(text: string): Buffer {
  return sha256(leafPrefix + text);
}

export function hashNode(left: Buffer, right: Buffer): Buffer {
  return sha256(Buffer.concat([nodePrefix, left, right]));
}
