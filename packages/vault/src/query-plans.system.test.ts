import { randomBytes, randomUUID } from 'node:crypto';
import type { Database } from '@sluice/database';
import {
  countBuffers,
  filled,
  findFullScans,
  findIndexes,
  openFilledDatabase,
  recordStatements,
  useStack,
  vacuumWhole,
} from '@sluice/testing';
import { sql } from 'kysely';
import * as dataKeys from './keys/data-key.queries.ts';
import { compileQuery } from './search/compile-query.ts';
import { parseQuery } from './search/parse-query.ts';
import { type Condition, isWithin } from './search/token-terms.ts';
import * as equalTokens from './tokens/create/equal-tokens.queries.ts';
import * as insertion from './tokens/create/insert-tokens.queries.ts';
import { deleteExpiredTokens, freeExpiredIds } from './tokens/expiry/expire-tokens.ts';
import { purgeTokens } from './tokens/expiry/purge-tokens.ts';
import { removeDueCvcs } from './tokens/expiry/remove-cvcs.ts';
import * as list from './tokens/read/token-list.queries.ts';
import { findTokenSettings } from './tokens/tenant-settings.queries.ts';
import * as tokens from './tokens/token.queries.ts';
import { updateTokenRow } from './tokens/update/update-token.queries.ts';
import * as uses from './tokens/use/count-uses.queries.ts';
import { readTokenUsage } from './usage-report.ts';

const large = useStack(async (stack) => (await openFilledDatabase(stack)).db);

const tenantId = filled.tenantId(3);
const ids = [filled.tokenId(13), filled.tokenId(23), 'unknown'];
const actor = { id: randomUUID(), tenantId, traceId: 'trace', permissions: [], rules: [] };
const owner = { tenantId, purpose: 'token_data' } as const;
const fingerprinted = { type: 'token', fingerprint: 'fingerprint-1', fingerprint_expression: null };
const month = '2026-01-01';
const token = {
  ...{ id: 'new', type: 'token', data_ciphertext: randomBytes(32), mask: null, containers: ['/'], metadata: {} },
  ...{ cvc_ciphertext: null, cvc_due_at: null, search_indexes: [], search_hashes: [] },
  blind_metadata_bytes: 0,
  ...{
    fingerprint: null,
    fingerprint_expression: null,
    deduplicate: null,
    expires_at: null,
    trace_id: 'trace',
    use: null,
  },
  log_id: randomUUID(),
};

const { id: _id, type: _type, deduplicate: _deduplicate, trace_id: _traceId, log_id: _logId, ...changes } = token;

function condition(query: string) {
  return compileQuery(parseQuery(query), { tenantId, hashOf: (text) => text });
}

type Query = (db: Database) => Promise<unknown>;

/** One entry for each query function, so that none can be forgotten. */
type Covered<Module> = {
  [Name in keyof Module as Module[Name] extends (db: never, ...rest: never[]) => Promise<unknown>
    ? Name
    : never]: Query;
};

const queries = {
  tokens: {
    findTokens: (db) => tokens.findTokens(db, tenantId, ids),
    findPlaces: (db) => tokens.findPlaces(db, tenantId, ids),
    findTokenRows: (db) => tokens.findTokenRows(db, tenantId, ids),
    lockTokenRow: (db) => tokens.lockTokenRow(db, tenantId, filled.tokenId(13)),
    deleteTokenRow: (db) => tokens.deleteTokenRow(db, actor, filled.tokenId(33)),
    noteActivity: (db) => tokens.noteActivity(db, tenantId, ids, month),
    noteActiveRows: (db) => tokens.noteActiveRows(db, tenantId, ids, '2026-02-01'),
    countActive: (db) => tokens.countActive(db, tenantId, month, 1),
  } satisfies Covered<typeof tokens>,
  insertion: {
    insertTokens: (db) => insertion.insertTokens(db, { actor, tokens: [token], month, deduplicated: true }),
    insertTokensOnShards: (db) =>
      insertion.insertTokensOnShards(db, {
        actor,
        tokens: [{ ...token, id: 'other', log_id: randomUUID() }],
        month,
        deduplicated: true,
      }),
  } satisfies Covered<typeof insertion>,
  equalTokens: {
    lockFingerprints: (db) => equalTokens.lockFingerprints(db, tenantId, ['fingerprint-1']),
    findOldestEqual: (db) => equalTokens.findOldestEqual(db, tenantId, [fingerprinted]),
    hasEqual: (db) => equalTokens.hasEqual(db, tenantId, { id: filled.tokenId(13), ...fingerprinted }),
  } satisfies Covered<typeof equalTokens>,
  uses: {
    countUses: (db) => uses.countUses(db, tenantId, ids),
    findUses: (db) => uses.findUses(db, tenantId, ids),
  } satisfies Covered<typeof uses>,
  dataKeys: {
    findWrappedKey: (db) => dataKeys.findWrappedKey(db, owner, 1),
    findNewestVersion: (db) => dataKeys.findNewestVersion(db, owner),
    reserveUses: (db) => dataKeys.reserveUses(db, owner, { uses: 1, maximumUses: 2 }),
    insertDataKey: (db) =>
      dataKeys.insertDataKey(db, owner, { version: 2, wrapped_key: randomBytes(32), root_key_id: 'root' }),
    isTenantClosed: (db) => dataKeys.isTenantClosed(db, tenantId),
    destroyTenantKeys: (db) => dataKeys.destroyTenantKeys(db, filled.tenantId(4)),
  } satisfies Covered<typeof dataKeys>,
  tokenList: {
    findPage: (db) => list.findPage(db, tenantId, [], { page: 2, size: 20 }),
    findPageAfter: (db) =>
      list.findPageAfter(db, tenantId, [], { after: { created_at: '2026-01-01T00:00:00Z', id: 'x' }, size: 20 }),
    findPageOfIds: (db) => list.findPageOfIds(db, tenantId, [filled.tokenId(13), filled.tokenId(23)]),
    countMatching: (db) => list.countMatching(db, tenantId, [condition('metadata.customer:x')]),
    countAll: (db) => list.countAll(db, tenantId, ['token', 'card']),
  } satisfies Covered<typeof list>,
  others: {
    findTokenSettings: (db) => findTokenSettings(db, tenantId),
    updateTokenRow: (db) => updateTokenRow(db, actor, filled.tokenId(13), changes),
    deleteExpiredTokens: (db) => deleteExpiredTokens(db, tenantId),
    freeExpiredIds: (db) => freeExpiredIds(db, tenantId, ids),
    removeDueCvcs: (db) => removeDueCvcs(db, tenantId),
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

const rule = (container: string): Condition[] => [isWithin(tenantId, [container]) ?? []].flat();

test.each<[string, Condition[], string]>([
  ['everything', [], 'tokens_newest'],
  ['what nearly all match', [condition('type:token')], 'tokens_newest'],
  ['an id', [condition('id:token-13')], 'tokens_pkey'],
  ['a type that few have', [condition('type:bank')], 'tokens_search_terms'],
  ['metadata', [condition('metadata.customer:x')], 'tokens_search_terms'],
  ['a blind index', [condition('data:x')], 'tokens_search_terms'],
  ['a fingerprint', [condition('fingerprint:fingerprint-1')], 'tokens_fingerprint'],
  ['a container', [condition('container:/pci/')], 'tokens_search_terms'],
  ['what is below a container', [condition('container:/pci/*')], 'tokens_search_terms'],
  ['a creator', [condition(`created_by:${actor.id}`)], 'tokens_search_terms'],
  ['who modified it', [condition(`modified_by:${actor.id}`)], 'tokens_search_terms'],
  ['when it was created', [condition('created_at:[2020-01-01 TO 2020-02-01]')], 'tokens_newest'],
  ['when it was modified', [condition('modified_at:2026-01-01')], 'tokens_modified'],
  ['one of two', [condition('metadata.a:x OR metadata.b:y')], 'tokens_search_terms'],
  ['what a rule reaches, where that is little', rule('/pci/'), 'tokens_search_terms'],
  ['what a rule reaches, where that is all', rule('/general/'), 'tokens_newest'],
])('a page of tokens by %s is read through its index, and nothing whole', async (_name, conditions, index) => {
  for (const query of [
    (db: Database) => list.findPage(db, tenantId, conditions, { page: 1, size: 20 }),
    (db: Database) => list.countMatching(db, tenantId, conditions),
  ]) {
    const { db, statements } = recordStatements(large.current);
    await query(db);
    expect(await findFullScans(large.current, statements)).toEqual([]);
  }
  const { db, statements } = recordStatements(large.current);
  await list.findPage(db, tenantId, conditions, { page: 1, size: 20 });
  expect(await findIndexes(large.current, statements)).toContain(index);
});

test('a deep page reads an index of ids on the way, and rows for itself alone', async () => {
  const deep = { page: 90, size: 100 };
  const pageOf = async (conditions: Condition[]) => {
    const { db, statements } = recordStatements(large.current);
    await list.findPage(db, tenantId, conditions, deep);
    return countBuffers(large.current, statements.slice(-1));
  };
  await vacuumWhole(large.current, 'tokens');
  expect(await pageOf([])).toBeLessThan(900);
  // The control: a column that the index does not have
  expect(await pageOf([sql<boolean>`modified_by is null`])).toBeGreaterThan(1200);
});

test('equal tokens are found through the index of fingerprints', async () => {
  for (const query of [queries.equalTokens.findOldestEqual, queries.equalTokens.hasEqual]) {
    const { db, statements } = recordStatements(large.current);
    await query(db);
    expect(await findIndexes(large.current, statements)).toEqual(['tokens_fingerprint']);
  }
});

test('the test itself would find tokens that are looked for by what has no index', async () => {
  const { db, statements } = recordStatements(large.current);
  await db.selectFrom('tokens').select('id').where('created_by', '=', randomUUID()).execute();
  expect(await findFullScans(large.current, statements)).toEqual([expect.stringMatching(/Scan of tokens/)]);
});
