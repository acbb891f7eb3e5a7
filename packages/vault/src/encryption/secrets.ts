import type { KeyPurpose } from '../keys/data-key.queries.ts';
import type { DataKeys } from '../keys/data-keys.ts';
import { decrypt, encrypt, keyVersionOf, type SecretPlace } from './cipher.ts';

/** Whoever holds data keys: a vault, or the context of a service that keeps secrets without one. */
export interface KeyHolder {
  dataKeys: DataKeys;
}

/** A secret's place, and which of the Tenant's keys it is encrypted with. */
export interface Secret extends SecretPlace {
  purpose: KeyPurpose;
}

/**
 * Encrypts a value for the place in which it will be stored. The ciphertext opens there only.
 * @throws {ServiceError} `unauthenticated` when the Tenant is closed.
 */
export async function encryptSecret(holder: KeyHolder, secret: Secret, plaintext: Buffer | string): Promise<Buffer> {
  const key = await holder.dataKeys.reserve(secret, 1);
  if (typeof plaintext !== 'string') return encrypt(key, secret, plaintext);
  const bytes = Buffer.from(plaintext);
  const ciphertext = encrypt(key, secret, bytes);
  bytes.fill(0);
  return ciphertext;
}

/** Like {@link encryptSecret}, once, without asking anybody when it is done: for the inside of a transaction. */
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
 * Opens what {@link encryptSecret} made for the same place. The caller zeroes the result when done.
 * @throws {IntegrityError} when it was changed, copied or swapped, or when its key is gone.
 */
export async function decryptSecret(holder: KeyHolder, secret: Secret, ciphertext: Buffer): Promise<Buffer> {
  const key = await holder.dataKeys.find(secret, keyVersionOf(ciphertext));
  return decrypt(key, secret, ciphertext);
}
