import { createCipheriv, createDecipheriv, createHash, createSecretKey, randomBytes } from 'node:crypto';

/** Where the root key is: it wraps data keys and never leaves. Local first; a KMS is another implementation. */
export interface KeyWrapper {
  /** Names the root key that {@link wrap} uses now. It says nothing about the key. */
  readonly currentKeyId: string;
  /** Encrypts a data key. Only the same `context` opens it again. */
  wrap(key: Buffer, context: string): Promise<Buffer>;
  /** @throws when the wrapped key was changed, moved to another context, or wrapped by another root key. */
  unwrap(wrapped: Buffer, context: string): Promise<Buffer>;
}

/** Settings of a service that opens the vault. */
export const vaultSettings = {
  ROOT_KEY: {
    type: 'string',
    minLength: 1,
    writeOnly: true,
    description: 'Root key of the vault, 32 random bytes as base64, for example from: openssl rand -base64 32',
  },
} as const;

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * A root key that this process holds: AES-256-GCM with the context as additional data. A wrapped key is
 * nonce (12 bytes) | tag (16) | ciphertext.
 * @throws {Error} that names what is wrong with the root key and never shows it.
 */
export function createLocalKeyWrapper(rootKeyBase64: string): KeyWrapper {
  const bytes = decodeRootKey(rootKeyBase64);
  const rootKey = createSecretKey(bytes);
  const currentKeyId = `local:${createHash('sha256').update('sluice root key id').update(bytes).digest('hex').slice(0, 16)}`;
  bytes.fill(0);
  return {
    currentKeyId,
    async wrap(key, context) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, rootKey, nonce).setAAD(Buffer.from(context));
      const ciphertext = Buffer.concat([cipher.update(key), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
    },
    async unwrap(wrapped, context) {
      const nonce = wrapped.subarray(0, nonceBytes);
      const decipher = createDecipheriv(algorithm, rootKey, nonce, { authTagLength: tagBytes })
        .setAAD(Buffer.from(context))
        .setAuthTag(wrapped.subarray(nonceBytes, nonceBytes + tagBytes));
      return Buffer.concat([decipher.update(wrapped.subarray(nonceBytes + tagBytes)), decipher.final()]);
    },
  };
}

function decodeRootKey(text: string): Buffer {
  const trimmed = text.trim();
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(trimmed)) throw new Error('ROOT_KEY must be base64');
  const bytes = Buffer.from(trimmed, 'base64');
  if (bytes.length !== 32) throw new Error(`ROOT_KEY must be 32 bytes as base64; it is ${bytes.length} bytes`);
  return bytes;
}
