import type { KeyObject } from 'node:crypto';
import { decrypt, encrypt, keyVersionOf } from '../encryption/cipher.ts';
import { IntegrityError } from '../encryption/integrity-error.ts';
import type { KeyOwner } from '../keys/data-key.queries.ts';
import type { DataKeys } from '../keys/data-keys.ts';
import type { NewRow, OldRow } from './encrypted-rows.queries.ts';
import type { EncryptedTable } from './encrypted-rows.ts';

export interface EncryptAnewOptions {
  owner: KeyOwner;
  table: EncryptedTable;
  onDamaged: (id: string) => void;
}

interface Decrypted {
  column: number;
  plaintext: Buffer;
}

/**
 * Encrypts the same texts under the newest version and zeroes the plaintexts. @returns the rows that could be
 * decrypted.
 * @throws {DataKeyError} for a key that cannot be unwrapped, because its rows need not be damaged.
 */
export async function encryptAnew(
  dataKeys: DataKeys,
  rows: readonly OldRow[],
  { owner, table, onDamaged }: EncryptAnewOptions,
): Promise<NewRow[]> {
  const keys = await findKeys(dataKeys, owner, rows);
  const { tenantId } = owner;
  const fieldOf = (column: number) => table.columns[column]?.field ?? '';
  const decrypted = new Map<OldRow, Decrypted[]>();
  try {
    for (const row of rows) {
      const texts: Decrypted[] = [];
      decrypted.set(row, texts);
      try {
        row.ciphertexts.forEach((ciphertext, column) => {
          if (ciphertext) texts.push({ column, plaintext: plaintextOf(ciphertext, column, row) });
        });
      } catch (error) {
        if (!(error instanceof IntegrityError)) throw error;
        wipe(texts);
        decrypted.delete(row);
        onDamaged(row.id);
      }
    }
    const uses = [...decrypted.values()].reduce((sum, texts) => sum + texts.length, 0);
    if (uses === 0) return [];
    const newKey = await dataKeys.reserve(owner, uses);
    return Array.from(decrypted, ([row, texts]) => {
      const replacements: (Buffer | null)[] = row.ciphertexts.map(() => null);
      for (const { column, plaintext } of texts) {
        replacements[column] = encrypt(newKey, { tenantId, recordId: row.id, field: fieldOf(column) }, plaintext);
      }
      return { ...row, replacements };
    });
  } finally {
    for (const texts of decrypted.values()) wipe(texts);
  }

  function plaintextOf(ciphertext: Buffer, column: number, { id }: OldRow): Buffer {
    const version = keyVersionOf(ciphertext);
    const key = keys.get(version);
    if (!key) throw new IntegrityError(`no data key has version ${version}`);
    return decrypt(key, { tenantId, recordId: id, field: fieldOf(column) }, ciphertext);
  }
}

function wipe(texts: readonly Decrypted[]): void {
  for (const { plaintext } of texts) plaintext.fill(0);
}

async function findKeys(dataKeys: DataKeys, owner: KeyOwner, rows: readonly OldRow[]): Promise<Map<number, KeyObject>> {
  const keys = new Map<number, KeyObject>();
  const versions = new Set<number>();
  for (const { ciphertexts } of rows) {
    // The first byte, the format, is checked when the ciphertext is decrypted.
    for (const ciphertext of ciphertexts)
      if (ciphertext && ciphertext.length >= 5) versions.add(ciphertext.readUInt32BE(1));
  }
  versions.delete(0); // versions begin with 1, so a row that names 0 is damaged
  for (const version of versions) keys.set(version, await dataKeys.find(owner, version));
  return keys;
}
