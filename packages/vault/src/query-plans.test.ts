import { randomBytes, randomUUID } from 'node:crypto';
import type { Database } from '@sluice/database';
import { createTestDatabase, filled, fillTables, findFullScans, recordStatements, useStack } from '@sluice/testing';
import * as dataKeys from './keys/data-key.queries.ts';
import * as equalTokens from './tokens/equal-tokens.queries.ts';
import { purgeTokens } from './tokens/purge-tokens.ts';
import * as tokens from './tokens/token.queries.ts';
import { readTokenUsage } from './usage-report.ts';

const large = useStack(async (stack) => {
  const { db, url } = await createTestDatabase(stack);
  await fillTables(url, ['tenants', 'tokens', 'data_keys', 'counters']);
  return db;
});

const tenantId = filled.tenantId(3);
const ids = [filled.tokenId(13), filled.tokenId(23), 'unknown'];
const actor = { id: randomUUID(), tenantId, traceId: 'trace', permissions: [], rules: [] };
const owner = { tenantId, purpose: 'token_data' } as const;
const month = '2026-01-01';
const token = {
  ...{ id: 'new', type: 'token', data_ciphertext: randomBytes(32), mask: null, containers: ['/'], metadata: {} },
  ...{ cvc_ciphertext: null, cvc_due_at: null, search_indexes: [], search_hashes: [] },
  ...{ fingerprint: null, fingerprint_expression: null, deduplicate: null, expires_at: null },
};

type Query = (db: Database) => Promise<unknown>;

/** One entry for each query function, so that none can be forgotten. */
type Covered<Module> = {
  [Name in keyof Module as Module[Name] extends (db: never, ...rest: never[]) => Promise<unknown>
    ? Name
    : never]: Query;
};

const queries = {
  tokens: {
    findTokenRows: (db) => tokens.findTokenRows(db, tenantId, ids),
    lockTokenRow: (db) => tokens.lockTokenRow(db, tenantId, filled.tokenId(13)),
    insertTokens: (db) => tokens.insertTokens(db, actor, [token], { month, deduplicated: true }),
    deleteTokenRow: (db) => tokens.deleteTokenRow(db, actor, filled.tokenId(33)),
    noteActivity: (db) => tokens.noteActivity(db, tenantId, ids, month),
  } satisfies Covered<typeof tokens>,
  equalTokens: {
    lockFingerprints: (db) => equalTokens.lockFingerprints(db, tenantId, ['fingerprint-1']),
    findTokenRowsByFingerprint: (db) =>
      equalTokens.findTokenRowsByFingerprint(db, tenantId, [{ type: 'token', fingerprint: 'fingerprint-1' }]),
    hasEqual: (db) =>
      equalTokens.hasEqual(db, tenantId, { id: filled.tokenId(13), type: 'token', fingerprint: 'fingerprint-1' }),
  } satisfies Covered<typeof equalTokens>,
  dataKeys: {
    findWrappedKey: (db) => dataKeys.findWrappedKey(db, owner, 1),
    findNewestVersion: (db) => dataKeys.findNewestVersion(db, owner),
    reserveUses: (db) => dataKeys.reserveUses(db, owner, { uses: 1, maximumUses: 2 }),
    insertDataKey: (db) =>
      dataKeys.insertDataKey(db, owner, { version: 2, wrapped_key: randomBytes(32), root_key_id: 'root' }),
    isTenantClosed: (db) => dataKeys.isTenantClosed(db, tenantId),
    destroyTenantKeys: (db) => dataKeys.destroyTenantKeys(db, filled.tenantId(4)),
  } satisfies Covered<typeof dataKeys>,
  others: {
    readTokenUsage: (db) => readTokenUsage(db, tenantId, new Date()),
    purgeTokens: (db) => purgeTokens(db, filled.tenantId(4)),
  } satisfies Record<string, Query>,
};

const cases = Object.values(queries).flatMap((module) => Object.entries<Query>(module));

test.each(cases)('%s reads through an index at 100,000 rows', async (_name, query) => {
  const { db, statements } = recordStatements(large.current);
  await query(db);
  expect(statements.length).toBeGreaterThan(0);
  expect(await findFullScans(large.current, statements)).toEqual([]);
});

test('the test itself would find tokens that are looked for by what has no index', async () => {
  const { db, statements } = recordStatements(large.current);
  await db.selectFrom('tokens').select('id').where('created_by', '=', randomUUID()).execute();
  expect(await findFullScans(large.current, statements)).toEqual([expect.stringMatching(/Scan of tokens/)]);
});
