import { createHmac, type KeyObject } from 'node:crypto';
import { parsedBytes } from '@sluice/body-bytes';
import type { AtOnceOrLater } from '@sluice/cache-coherence';
import { ServiceError } from '@sluice/problems';
import type { Pieces } from '@sluice/service-runtime';
import { decryptSealed, encrypt, readSealed, type Sealed, type SecretPlace } from '../encryption/cipher.ts';
import { IntegrityError } from '../encryption/integrity-error.ts';
import type { Json } from '../json.ts';
import type { DataKey } from '../keys/data-keys.ts';
import type { Vault } from '../vault.ts';
import { type DecryptionBudget, unbounded } from './decryption-budget.ts';
import { isCvcKept } from './expiry/cvc.ts';
import type { TokenRow } from './token.ts';

type DataField = 'tokens.data' | 'tokens.cvc';

interface TokenText {
  tenantId: string;
  id: string;
  field: DataField;
  text: string;
}

export type DataColumns = Pick<TokenRow, 'id' | 'data_ciphertext' | 'cvc_ciphertext' | 'cvc_due_at' | 'sealed'>;

export function encryptData(key: DataKey, { tenantId, id, field, text }: TokenText): Buffer {
  const bytes = Buffer.from(text);
  const place: SecretPlace = { tenantId, recordId: id, field };
  const ciphertext = encrypt(key, place, bytes);
  bytes.fill(0);
  return ciphertext;
}

/** Bytes decrypted and parsed before other work may run: some milliseconds, up to 70 for a token of 1 MiB. */
const bytesOfPiece = 64 * 1024;

interface Due {
  id: string;
  sealed: Sealed;
}

/** Decrypts data, by token id, without a `cvc` that is due. Beyond the budget tokens are missing. */
export function decryptData(
  vault: Vault,
  tenantId: string,
  rows: readonly DataColumns[],
  budget: DecryptionBudget = { ...unbounded },
): AtOnceOrLater<Map<string, Json>> {
  const forget = (error: unknown): never => {
    if (error instanceof IntegrityError) for (const { id } of rows) vault.tokens.forget(tenantId, id);
    throw error;
  };
  try {
    const due = withinBudget(tenantId, rows, { budget, clock: vault.clock });
    const decrypted = decryptDue(vault, tenantId, due, budget);
    return decrypted instanceof Promise ? decrypted.catch(forget) : decrypted;
  } catch (error) {
    return forget(error);
  }
}

/** Without a promise if there is room, the keys are cached, and the data is small. */
function decryptDue(
  vault: Vault,
  tenantId: string,
  due: readonly Due[],
  budget: DecryptionBudget,
): AtOnceOrLater<Map<string, Json>> {
  const decryptWith = (keys: KeysByVersion) => vault.workPieces.run(tenantId, decryptInPieces(due, keys, budget));
  const room = budget.hold?.(due.reduce((sum, { sealed }) => sum + sealed.body.length, 0));
  if (room) return room.then(() => findKeys(vault, tenantId, due)).then(decryptWith);
  const keys = findKeys(vault, tenantId, due);
  return keys instanceof Promise ? keys.then(decryptWith) : decryptWith(keys);
}

function findKeys(
  vault: Vault,
  tenantId: string,
  due: readonly Due[],
  found: KeysByVersion = new Map(),
): AtOnceOrLater<KeysByVersion> {
  const keys = new Map(found);
  for (const { sealed } of due) {
    const { version } = sealed;
    if (keys.has(version)) continue;
    const key = vault.dataKeys.find({ tenantId, purpose: 'token_data' }, version, vault.db);
    if (key instanceof Promise) return key.then((loaded) => findKeys(vault, tenantId, due, keys.set(version, loaded)));
    keys.set(version, key);
  }
  return keys;
}

function withinBudget(
  tenantId: string,
  rows: readonly DataColumns[],
  { budget, clock }: { budget: DecryptionBudget; clock: () => Date },
): Due[] {
  const due: Due[] = [];
  for (const row of rows) {
    const sealed = sealedOf(tenantId, row, clock);
    if (sealed.body.length > budget.leftBytes) continue;
    budget.leftBytes -= sealed.body.length;
    due.push({ id: row.id, sealed });
  }
  return due;
}

type KeysByVersion = ReadonlyMap<number, KeyObject>;

/** Steps in which memory for parsed data is reserved beyond the size of its text, because that can be twenty times as much. */
const parsedAtOnce = 16 * 1024;

function* decryptInPieces(
  due: readonly Due[],
  keys: KeysByVersion,
  budget: Pick<DecryptionBudget, 'hold'>,
): Pieces<Map<string, Json>> {
  const decrypted = new Map<string, Json>();
  let inPiece = 0;
  let toReserve = 0;
  for (const { id, sealed } of due) {
    const bytesToDecrypt = sealed.body.length;
    if (inPiece > 0 && inPiece + bytesToDecrypt > bytesOfPiece) {
      yield;
      inPiece = 0;
    }
    inPiece += bytesToDecrypt;
    const key = keys.get(sealed.version);
    if (!key) throw new Error(`data key version ${sealed.version} was not found before`);
    const bytes = decryptSealed(key, sealed);
    try {
      toReserve += parsedBytes(bytes) - bytes.length; // the text is reserved already
      if (toReserve > parsedAtOnce) {
        const room = budget.hold?.(toReserve);
        if (room) yield room;
        toReserve = 0;
      }
      decrypted.set(id, JSON.parse(bytes.toString('utf8')));
    } finally {
      bytes.fill(0);
    }
  }
  return decrypted;
}

/** Stored in the row, because the row may be cached. */
function sealedOf(tenantId: string, row: DataColumns, clock: () => Date): Sealed {
  const { cvc_ciphertext, data_ciphertext, sealed } = row;
  const isCvc = cvc_ciphertext !== null && isCvcKept(row, clock());
  const ciphertext = isCvc ? cvc_ciphertext : data_ciphertext;
  if (sealed?.ciphertext === ciphertext) return sealed;
  row.sealed = readSealed({ tenantId, recordId: row.id, field: isCvc ? 'tokens.cvc' : 'tokens.data' }, ciphertext);
  return row.sealed;
}

export function inOrderOfNeed<T extends { id: string }>(found: readonly T[], needed?: ReadonlySet<string>): T[][] {
  if (!needed) return [[...found]];
  return [found.filter(({ id }) => needed.has(id)), found.filter(({ id }) => !needed.has(id))];
}

/** Without `needed` all are required. @throws {ServiceError} `payload_too_large` if one was not decrypted. */
export function requireNeeded(
  rows: readonly { id: string }[],
  decrypted: { has(id: string): boolean },
  needed: ReadonlySet<string> | undefined,
): void {
  if (rows.every(({ id }) => decrypted.has(id) || needed?.has(id) === false)) return;
  throw new ServiceError(
    'payload_too_large',
    'The data of all tokens in one request may have at most 8 MiB. When the data is parsed, it may take at most 64 MiB of memory. Use fewer tokens in one request',
    {
      limit: 'opened_data',
    },
  );
}

/** HMAC-SHA-256: equal for equal texts of one type in one Tenant, and meaningless without the Tenant's key. */
export function fingerprintOf(key: KeyObject, type: string, text: string): string {
  return createHmac('sha256', key).update(`${type}\n${text}`).digest('base64url');
}

/** Over the exact UTF-8 text of a search index; case, spaces and accents count. */
export function searchHashOf(key: KeyObject, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}
