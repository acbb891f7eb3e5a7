import { createHmac, type KeyObject } from 'node:crypto';
import { ServiceError } from '@sluice/problems';
import { encrypt, openSealed, type Sealed, type SecretPlace, seal } from '../encryption/cipher.ts';
import { IntegrityError } from '../encryption/integrity-error.ts';
import type { Json } from '../json.ts';
import type { DataKey } from '../keys/data-keys.ts';
import type { Vault } from '../vault.ts';
import { isCvcKept } from './expiry/cvc.ts';
import type { TokenRow } from './token.ts';

/** The columns that hold data of tokens. */
type DataField = 'tokens.data' | 'tokens.cvc';

/** A text of a token, and the column that it is for. */
interface TokenText {
  tenantId: string;
  id: string;
  field: DataField;
  text: string;
}

/** The columns of a token's data, as they are read. */
export type DataColumns = Pick<TokenRow, 'id' | 'data_ciphertext' | 'cvc_ciphertext' | 'cvc_due_at' | 'sealed'>;

/** Encrypts the JSON text of a token's data. */
export function encryptData(key: DataKey, { tenantId, id, field, text }: TokenText): Buffer {
  const bytes = Buffer.from(text);
  const place: SecretPlace = { tenantId, recordId: id, field };
  const ciphertext = encrypt(key, place, bytes);
  bytes.fill(0);
  return ciphertext;
}

/** How many bytes are opened and parsed before others may run: some milliseconds of work, a token of 1 MiB up to 70. */
const bytesOfPiece = 64 * 1024;

/** How much of tokens' data one request may have opened, because parsed it may take thirty times its size. */
export interface OpeningBudget {
  leftBytes: number;
}

const mostOpenedBytes = 8 * 1024 * 1024;

export function newOpeningBudget(): OpeningBudget {
  return { leftBytes: mostOpenedBytes };
}

/**
 * Opens the data of these tokens, by id; without a `cvc` that is due. One look-up for each key version. Tokens that the
 * budget does not cover are not in the answer; those that come first go first.
 */
export async function openData(
  vault: Vault,
  tenantId: string,
  rows: readonly DataColumns[],
  budget: OpeningBudget = { leftBytes: Number.POSITIVE_INFINITY },
): Promise<Map<string, Json>> {
  const now = vault.clock();
  let inPiece = 0;
  const keys = new Map<number, KeyObject>();
  const opened = new Map<string, Json>();
  try {
    for (const row of rows) {
      const sealed = sealedOf(tenantId, row, now);
      const bytesToOpen = sealed.body.length;
      if (bytesToOpen > budget.leftBytes) continue;
      budget.leftBytes -= bytesToOpen;
      if (inPiece > 0 && inPiece + bytesToOpen > bytesOfPiece) {
        await vault.workPieces.turn(tenantId);
        inPiece = 0;
      }
      inPiece += bytesToOpen;
      let key = keys.get(sealed.version);
      if (!key) {
        const found = vault.dataKeys.find({ tenantId, purpose: 'token_data' }, sealed.version);
        key = found instanceof Promise ? await found : found;
        keys.set(sealed.version, key);
      }
      const bytes = openSealed(key, sealed);
      opened.set(row.id, JSON.parse(bytes.toString('utf8')));
      bytes.fill(0);
    }
  } catch (error) {
    if (error instanceof IntegrityError) for (const { id } of rows) vault.tokens.forget(tenantId, id);
    throw error;
  }
  return opened;
}

/** Of the ciphertext that counts now. It stays with the row, which may be in a cache. */
function sealedOf(tenantId: string, row: DataColumns, now: Date): Sealed {
  const { cvc_ciphertext, data_ciphertext, sealed } = row;
  const isCvc = cvc_ciphertext !== null && isCvcKept(row, now);
  const ciphertext = isCvc ? cvc_ciphertext : data_ciphertext;
  if (sealed?.ciphertext === ciphertext) return sealed;
  row.sealed = seal({ tenantId, recordId: row.id, field: isCvc ? 'tokens.cvc' : 'tokens.data' }, ciphertext);
  return row.sealed;
}

/** Those that must be opened, before the others take anything of the budget. */
export function neededFirst<T extends { id: string }>(rows: readonly T[], needed: ReadonlySet<string>): T[] {
  return [...rows.filter(({ id }) => needed.has(id)), ...rows.filter(({ id }) => !needed.has(id))];
}

/** @throws {ServiceError} `payload_too_large` where one that must be opened was not. Without `needed` all must be. */
export function requireNeeded(
  rows: readonly { id: string }[],
  opened: ReadonlyMap<string, unknown>,
  needed: ReadonlySet<string> | undefined,
): void {
  if (rows.every(({ id }) => opened.has(id) || needed?.has(id) === false)) return;
  throw new ServiceError('payload_too_large', 'The tokens of one request may have at most 8 MiB of data together');
}

/** Equal for equal texts of one type and Tenant, and tells nothing without the Tenant's key: HMAC-SHA-256. */
export function fingerprintOf(key: KeyObject, type: string, text: string): string {
  return createHmac('sha256', key).update(`${type}\n${text}`).digest('base64url');
}

/**
 * What tokens are found by whose search index came to this text: HMAC-SHA-256 over its UTF-8, as it is. Case, spaces and
 * accents count.
 */
export function searchHashOf(key: KeyObject, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}
