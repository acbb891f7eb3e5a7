import type { KeyObject } from 'node:crypto';
import type { DataKey } from '../../keys/data-keys.ts';
import type { Vault } from '../../vault.ts';
import { hasCvc } from '../expiry/cvc.ts';
import type { TokenRow } from '../token.ts';
import { encryptData, fingerprintOf, searchHashOf } from '../token-data.ts';
import type { TokenInput } from './read-token-input.ts';

type SealedColumns = Pick<TokenRow, 'data_ciphertext' | 'cvc_ciphertext' | 'cvc_due_at' | 'fingerprint'> & {
  search_hashes: string[];
};

interface SealOptions {
  tenantId: string;
  id: string;
  cvcDueAt: Date;
}

/** Synchronous, because the keys are in memory. */
export type Seal = (input: TokenInput, options: SealOptions) => SealedColumns;

/** Fetches the keys for these inputs and reserves their encryptions. */
export async function prepareSeal(vault: Vault, tenantId: string, inputs: readonly TokenInput[]): Promise<Seal> {
  const cvcs = inputs.filter(({ type, data }) => hasCvc(type, data)).length;
  const isSearched = inputs.some(({ searchTexts }) => searchTexts.length > 0);
  const [dataKey, fingerprintKey, searchKey] = await Promise.all([
    vault.dataKeys.reserve({ tenantId, purpose: 'token_data' }, inputs.length + cvcs),
    vault.dataKeys.forHashing({ tenantId, purpose: 'fingerprint' }),
    isSearched ? vault.dataKeys.forHashing({ tenantId, purpose: 'blind_index' }) : undefined,
  ]);
  return (input, options) => seal(input, options, { dataKey, fingerprintKey, searchKey });
}

interface SealKeys {
  dataKey: DataKey;
  fingerprintKey: KeyObject;
  searchKey: KeyObject | undefined;
}

function seal(
  { type, data, dataText, lastingText, fingerprintText, searchTexts }: TokenInput,
  { tenantId, id, cvcDueAt }: SealOptions,
  { dataKey, fingerprintKey, searchKey }: SealKeys,
): SealedColumns {
  const isKept = hasCvc(type, data);
  return {
    data_ciphertext: encryptData(dataKey, { tenantId, id, field: 'tokens.data', text: lastingText }),
    cvc_ciphertext: isKept ? encryptData(dataKey, { tenantId, id, field: 'tokens.cvc', text: dataText }) : null,
    cvc_due_at: isKept ? cvcDueAt.toISOString() : null,
    fingerprint: fingerprintText === '' ? null : fingerprintOf(fingerprintKey, type, fingerprintText),
    search_hashes: searchKey ? searchTexts.map((text) => searchHashOf(searchKey, text)) : [],
  };
}
