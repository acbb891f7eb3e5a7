import type { KeyPurpose } from '../keys/data-key.queries.ts';
import type { DataKeys } from '../keys/data-keys.ts';
import { decrypt, encrypt, keyVersionOf, type SecretPlace } from './cipher.ts';

export interface KeyHolder {
  dataKeys: DataKeys;
}

export interface Secret extends SecretPlace {
  purpose: KeyPurpose;
}

/** @throws {ServiceError} `unauthenticated` if the Tenant is closed. */
export async function encryptSecret(holder: KeyHolder, secret: Secret, plaintext: Buffer | string): Promise<Buffer> {
  const key = await holder.dataKeys.reserve(secret, 1);
  if (typeof plaintext !== 'string') return encrypt(key, secret, plaintext);
  const bytes = Buffer.from(plaintext);
  const ciphertext = encrypt(key, secret, bytes);
  bytes.fill(0);
  return ciphertext;
}

/** Reserves one encryption, so that a transaction can encrypt without waiting for the network. */
export async function prepareSecret(holder: KeyHolder, secret: Secret): Promise<(plaintext: string) => Buffer> {
  const key = await holder.dataKeys.reserve(secret, 1);
  return (plaintext) => {
    const bytes = Buffer.from(plaintext);
    const ciphertext = encrypt(key, secret, bytes);
    bytes.fill(0);
    return ciphertext;
  };
}

/**
 * The caller zeroes the result. @throws {IntegrityError} if the ciphertext was changed, copied or swapped, or its key
 * is gone.
 */
export async function decryptSecret(holder: KeyHolder, secret: Secret, ciphertext: Buffer): Promise<Buffer> {
  const key = await holder.dataKeys.find(secret, keyVersionOf(ciphertext));
  return decrypt(key, secret, ciphertext);
}
