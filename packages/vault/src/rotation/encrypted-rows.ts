import type { KeyPurpose } from '../keys/data-key.queries.ts';

/** Ciphertexts under the data keys of one purpose. The primary key is (tenant_id, id). */
export interface EncryptedTable {
  table: 'tokens' | 'proxies';
  idType: 'text' | 'uuid';
  firstId: string;
  /** Each column with the field name that its ciphertexts are bound to. */
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

/**
 * Answers kept for idempotency are not encrypted anew, because they are deleted after 24 hours. Keys of hashes
 * (fingerprints, blind indexes) are not rotated, because equal values would get different hashes.
 */
export const rotatedPurposes = ['token_data', 'proxy_secrets', 'idempotency'] as const satisfies KeyPurpose[];

export type RotatedPurpose = (typeof rotatedPurposes)[number];
