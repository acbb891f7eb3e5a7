import { randomBytes } from 'node:crypto';
import type { Database } from '@sluice/database';
import { filled, findFullScans, findIndexes, openFilledDatabase, recordStatements, useStack } from '@sluice/testing';
import { type NewRow, readPage, replaceCiphertexts } from './encrypted-rows.queries.ts';
import { type EncryptedTable, encryptedTables } from './encrypted-rows.ts';
import { listKeyVersions } from './key-versions.queries.ts';
import { firstPlace, readDataKeyPage, replaceWrappedKeys } from './root-key.queries.ts';

const large = useStack(async (stack) => (await openFilledDatabase(stack)).db);

const tenantId = filled.tenantId(3);
const [tokens] = encryptedTables('token_data') as [EncryptedTable];
const [proxies] = encryptedTables('proxy_secrets') as [EncryptedTable];
const sampleRow = (id: string): NewRow => ({
  id,
  ciphertexts: [randomBytes(40), null],
  replacements: [randomBytes(40), null],
});
const place = { tenant_id: tenantId, purpose: 'token_data', version: 1 } as const;

const queries: Record<string, [query: (db: Database) => Promise<unknown>, index: string]> = {
  'the first page of tokens': [
    (db) => readPage(db, tokens, { tenantId, version: 2, after: tokens.firstId }),
    'tokens_pkey',
  ],
  'a page of tokens': [(db) => readPage(db, tokens, { tenantId, version: 2, after: 'token-5' }), 'tokens_pkey'],
  'a page of proxies': [
    (db) => readPage(db, proxies, { tenantId, version: 2, after: filled.proxyId(503) }),
    'proxies_pkey',
  ],
  'what replaces ciphertexts of tokens': [
    (db) =>
      replaceCiphertexts(db, tokens, {
        tenantId,
        rows: Array.from({ length: 500 }, (_, i) => sampleRow(filled.tokenId(i))),
      }),
    'tokens_pkey',
  ],
  'what replaces ciphertexts of proxies': [
    (db) =>
      replaceCiphertexts(db, proxies, {
        tenantId,
        rows: [sampleRow(filled.proxyId(3)), sampleRow(filled.proxyId(13))],
      }),
    'proxies_pkey',
  ],
  'the first page of data keys': [
    (db) => readDataKeyPage(db, { currentKeyId: 'k', after: firstPlace }),
    'data_keys_pkey',
  ],
  'a page of data keys': [(db) => readDataKeyPage(db, { currentKeyId: 'k', after: place }), 'data_keys_pkey'],
  'what replaces wrapped keys': [
    (db) =>
      replaceWrappedKeys(db, [
        { ...place, oldWrappedKey: randomBytes(9), wrapped_key: randomBytes(9), root_key_id: 'k' },
      ]),
    'data_keys_pkey',
  ],
  'the versions of a Tenant': [(db) => listKeyVersions(db, tenantId), 'data_keys_pkey'],
};

test.each(Object.keys(queries))('%s is read through the primary key at 100,000 rows', async (name) => {
  const [query, index] = queries[name] ?? [];
  const { db, statements } = recordStatements(large.current);
  await query?.(db);
  expect(statements).toHaveLength(1);
  expect(await findFullScans(large.current, statements)).toEqual([]);
  expect(await findIndexes(large.current, statements)).toEqual([index]);
});

test('a page does not get longer in time because nothing in it is old', async () => {
  const { db, statements } = recordStatements(large.current);
  const page = await readPage(db, tokens, { tenantId, version: 0, after: '' });
  expect(page.rows).toHaveLength(500);
  expect(page.rows.every(({ ciphertexts }) => ciphertexts.every((ciphertext) => ciphertext === null))).toBe(true);
  expect(statements).toHaveLength(1);
});
