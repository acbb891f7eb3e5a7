import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import type { RootKeys } from './key-wrapper.ts';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

export interface LocalRootKey {
  setting: string;
  base64: string;
}

/** A wrapped key is nonce (12 bytes) | tag (16) | AES-256-GCM ciphertext, with the context as additional data. */
export function localRootKeys(current: LocalRootKey, others: readonly LocalRootKey[] = []): RootKeys {
  const first = readRootKey(current);
  const keys = new Map([first, ...others.map(readRootKey)].map(({ id, key }) => [id, key]));
  return {
    currentKeyId: async () => first.id,
    has: (keyId) => keys.has(keyId),
    wrap: async (key, context) => ({ wrapped: wrap(first.key, key, context), keyId: first.id }),
    async unwrap(wrapped, { context, keyId }) {
      const rootKey = keys.get(keyId);
      if (!rootKey) throw new Error('it was wrapped by a root key that the settings do not give');
      return unwrap(rootKey, wrapped, context);
    },
  };
}

export function localKeyWrapper(rootKeyBase64: string, previousBase64: readonly string[] = []): RootKeys {
  return localRootKeys(
    { setting: 'ROOT_KEY', base64: rootKeyBase64 },
    previousBase64.map((base64) => ({ setting: 'ROOT_KEY_PREVIOUS', base64 })),
  );
}

function wrap(rootKey: KeyObject, key: Buffer, context: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, rootKey, nonce).setAAD(Buffer.from(context));
  const ciphertext = Buffer.concat([cipher.update(key), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
}

function unwrap(rootKey: KeyObject, wrapped: Buffer, context: string): Buffer {
  const nonce = wrapped.subarray(0, nonceBytes);
  const decipher = createDecipheriv(algorithm, rootKey, nonce, { authTagLength: tagBytes })
    .setAAD(Buffer.from(context))
    .setAuthTag(wrapped.subarray(nonceBytes, nonceBytes + tagBytes));
  return Buffer.concat([decipher.update(wrapped.subarray(nonceBytes + tagBytes)), decipher.final()]);
}

function readRootKey({ setting, base64 }: LocalRootKey): { id: string; key: KeyObject } {
  const trimmed = base64.trim();
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(trimmed)) throw new Error(`${setting} must be base64`);
  const bytes = Buffer.from(trimmed, 'base64');
  if (bytes.length !== 32) throw new Error(`${setting} must be 32 bytes as base64; it is ${bytes.length} bytes`);
  const digest = createHash('sha256').update('sluice root key id').update(bytes).digest('hex');
  const key = createSecretKey(bytes);
  bytes.fill(0);
  return { id: `local:${digest.slice(0, 16)}`, key };
}
