import {
  listProxyMembers,
  type ProxyMemberName,
  type ProxyMembers,
  proxyVersionField,
  reactorConfiguration,
  runArguments,
  runConsole,
  runResult,
  type Tables,
} from '@sluice/database';
import type { KeyPurpose } from '../keys/data-key.queries.ts';

/** Ciphertexts in a table whose primary key is (tenant_id, id). */
export type EncryptedTable = {
  [T in keyof Tables]: {
    table: T;
    idType: 'text' | 'uuid';
    firstId: string;
    columns: readonly { column: keyof Tables[T] & string; field: string }[];
  };
}[keyof Tables];

const byUuid = { idType: 'uuid', firstId: '00000000-0000-0000-0000-000000000000' } as const;

type SecretColumn = {
  [M in ProxyMemberName]: ProxyMembers[M]['kept'] extends 'secret' ? ProxyMembers[M]['column'] : never;
}[ProxyMemberName];

/** The columns that are encrypted with data keys of each purpose. A new table is one entry here. */
const tables: { readonly [P in KeyPurpose]?: readonly EncryptedTable[] } = {
  token_data: [
    {
      table: 'tokens',
      idType: 'text',
      firstId: '',
      columns: [
        { column: 'data_ciphertext', field: 'tokens.data' },
        { column: 'cvc_ciphertext', field: 'tokens.cvc' },
      ],
    },
  ],
  proxy_secrets: [
    {
      table: 'proxies',
      ...byUuid,
      columns: [
        { column: 'key_ciphertext', field: 'key' },
        ...listProxyMembers()
          .filter(([, { kept }]) => kept === 'secret')
          .map(([field, { column }]) => ({ column: column as SecretColumn, field })),
      ],
    },
    {
      table: 'proxy_versions',
      ...byUuid,
      columns: [{ column: 'definition_ciphertext', field: proxyVersionField }],
    },
    {
      table: 'reactors',
      ...byUuid,
      columns: [{ column: 'configuration_ciphertext', field: reactorConfiguration.field }],
    },
    {
      table: 'reactor_runs',
      ...byUuid,
      columns: [
        { column: 'arguments_ciphertext', field: runArguments.field },
        { column: 'result_ciphertext', field: runResult.field },
        { column: 'console_ciphertext', field: runConsole.field },
      ],
    },
  ],
};

export function encryptedTables(purpose: KeyPurpose): readonly EncryptedTable[] {
  return tables[purpose] ?? [];
}
