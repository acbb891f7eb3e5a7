import type { KeyPurpose } from '../keys/data-key.queries.ts';

/** A table whose rows hold ciphertexts under the data keys of one purpose. Its primary key is (tenant_id, id). */
export interface EncryptedTable {
  table: 'tokens' | 'proxies';
  idType: 'text' | 'uuid';
  /** Before every id. */
  firstId: string;
  /** The columns, and the field that is bound to the ciphertexts in them. */
  columns: readonly EncryptedColumn[];
}

interface EncryptedColumn {
  column: 'data_ciphertext' | 'cvc_ciphertext' | 'key_ciphertext' | 'configuration_ciphertext';
  field: string;
}

/** What is encrypted anew when a data key is rotated. */
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
 * What can be rotated. Answers that are kept for idempotency are not encrypted anew: they are deleted after 24 hours.
 * The keys of keyed hashes (fingerprints, blind indexes) have one version: with another, equal values would no longer
 * be equal.
 */
export const rotatedPurposes = ['token_data', 'proxy_secrets', 'idempotency'] as const satisfies KeyPurpose[];

export type RotatedPurpose = (typeof rotatedPurposes)[number];
