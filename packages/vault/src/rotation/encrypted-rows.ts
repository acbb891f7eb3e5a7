import type { KeyPurpose } from '../keys/data-key.queries.ts';

/** Ciphertexts under the data keys of one purpose. The primary key is (tenant_id, id). */
export interface EncryptedTable {
  table: 'tokens' | 'proxies';
  idType: 'text' | 'uuid';
  firstId: string;
  columns: readonly EncryptedColumn[];
}

interface EncryptedColumn {
  column: 'data_ciphertext' | 'cvc_ciphertext' | 'key_ciphertext' | 'configuration_ciphertext';
  field: string;
}

export const encryptedTables: { readonly [P in KeyPurpose]?: EncryptedTable } = {
  token_data: {
    table: 'tokens',
    idType: 'text',
    firstId: '',
    columns: [
      { column: 'data_ciphertext', field: 'tokens.data' },
      { column: 'cvc_ciphertext', field: 'tokens.cvc' },
    ],
  },
  proxy_secrets: {
    table: 'proxies',
    idType: 'uuid',
    firstId: '00000000-0000-0000-0000-000000000000',
    columns: [
      { column: 'key_ciphertext', field: 'key' },
      { column: 'configuration_ciphertext', field: 'configuration' },
    ],
  },
};

/** Not keys of hashes, because equal values would differ. Kept answers are not encrypted anew, as they last a day. */
export const rotatedPurposes = ['token_data', 'proxy_secrets', 'idempotency'] as const satisfies KeyPurpose[];

export type RotatedPurpose = (typeof rotatedPurposes)[number];
