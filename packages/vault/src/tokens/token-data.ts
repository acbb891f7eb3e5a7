import { createHmac, type KeyObject } from 'node:crypto';
import { decrypt, encrypt, keyVersionOf, type SecretPlace } from '../encryption/cipher.ts';
import type { Json } from '../json.ts';
import type { DataKey } from '../keys/data-keys.ts';
import type { Vault } from '../vault.ts';
import type { TokenRow } from './token.ts';

function placeOf(tenantId: string, id: string): SecretPlace {
  return { tenantId, recordId: id, field: 'tokens.data' };
}

/** Encrypts the JSON text of a token's data. */
export function encryptData(key: DataKey, { tenantId, id }: { tenantId: string; id: string }, text: string): Buffer {
  const bytes = Buffer.from(text);
  const ciphertext = encrypt(key, placeOf(tenantId, id), bytes);
  bytes.fill(0);
  return ciphertext;
}

/** Opens the data of these tokens, by id. One look-up for each key version, then everything is synchronous. */
export async function openData(
  vault: Vault,
  tenantId: string,
  rows: readonly Pick<TokenRow, 'id' | 'data_ciphertext'>[],
): Promise<Map<string, Json>> {
  const keys = new Map<number, KeyObject>();
  for (const version of new Set(rows.map((row) => keyVersionOf(row.data_ciphertext)))) {
    keys.set(version, await vault.dataKeys.find({ tenantId, purpose: 'token_data' }, version));
  }
  const opened = new Map<string, Json>();
  for (const { id, data_ciphertext } of rows) {
    const key = keys.get(keyVersionOf(data_ciphertext));
    if (!key) continue;
    const bytes = decrypt(key, placeOf(tenantId, id), data_ciphertext);
    opened.set(id, JSON.parse(bytes.toString('utf8')));
    bytes.fill(0);
  }
  return opened;
}

/** Equal for equal texts of one type and Tenant, and tells nothing without the Tenant's key: HMAC-SHA-256. */
export function fingerprintOf(key: KeyObject, type: string, text: string): string {
  return createHmac('sha256', key).update(`${type}\n${text}`).digest('base64url');
}
