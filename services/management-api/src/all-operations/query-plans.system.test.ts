import { randomBytes, randomUUID } from 'node:crypto';
import { findCaller, findCallerById, findSession } from '@sluice/credentials';
import type { Database } from '@sluice/database';
import { readCounts, writeCounts } from '@sluice/invocation-feed';
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
import { type RawBuilder, sql } from 'kysely';
import * as applications from '../applications/application.queries.ts';
import * as applicationUses from '../applications/application-uses.queries.ts';
import * as keys from '../applications/keys/application-key.queries.ts';
import * as members from '../people/members/member.queries.ts';
import * as proxies from '../proxies/proxy.queries.ts';
import * as formulas from '../reactors/formulas/reactor-formula.queries.ts';
import * as reactors from '../reactors/reactor.queries.ts';
import * as search from '../search/search.queries.ts';
import * as sessions from '../sessions/session.queries.ts';
import * as tenants from '../tenants/tenant.queries.ts';

const large = useStack(async (stack) => {
  const { db } = await openFilledDatabase(stack);
  for (const table of ['applications', 'proxies', 'reactors', 'reactor_formulas']) await countRows(db, table);
  await fillMembers(db);
  return db;
});

/** 50 of each of 2,000 Tenants, besides their first OWNERs. */
async function fillMembers(db: Database): Promise<void> {
  await sql`
    insert into users (id, email)
    select md5(n::text)::uuid, md5(n::text) || '@example.com' from generate_series(1, 99999) n`.execute(db);
  await sql`
    insert into members (tenant_id, user_id, role)
    select ('00000000-0000-4000-8000-' || lpad((n / 50)::text, 12, '0'))::uuid, md5(n::text)::uuid, 'AUDITOR'
    from generate_series(1, 99999) n`.execute(db);
  await sql`analyze users, members`.execute(db);
}

/** Without its total, a list would take every page for one past the end and read nothing. */
async function countRows(db: Database, table: string): Promise<void> {
  await sql`
    insert into counters (tenant_id, counter, slot, value)
    select tenant_id, ${table}, 0, count(*) from ${sql.table(table)} group by tenant_id
  `.execute(db);
}

const tenantId = filled.tenantId(3);
const applicationId = filled.applicationId(13);
const proxyId = filled.proxyId(13);
const reactorId = filled.reactorId(13);
const filterOf = (part: Partial<reactors.ReactorFilter>) => ({
  ...{ ids: [], name: undefined, formulaId: undefined },
  ...part,
});
const orders = (['created_at', 'name', '-name'] as const).flatMap((sort) => [{ sort }, { sort, page: 100, size: 100 }]);
const page = { page: 1, size: 20, hold: () => undefined };
const limits = { APPLICATION_MAX_WAITING_SESSIONS: 10_000, TENANT_MAX_SESSIONS: 100_000 };
const author = { modified_by: randomUUID() };

const searchTexts = ['3f2a9', 'proxy', '---', 'nothing', proxyId, proxyId.slice(0, 8), 'deadbeef'];

type Query = (db: Database) => Promise<unknown>;

/** Has one entry for each query function, so that none can be forgotten. */
type Covered<Module> = {
  [Name in keyof Module as Module[Name] extends (db: never, ...rest: never[]) => Promise<unknown> ? Name : never]:
    | Query
    | Query[];
};

const list = (ids: string[], name?: string) => (db: Database) => proxies.listProxies(db, tenantId, { ids, name }, page);

const queries = {
  applications: {
    insertApplication: (db) =>
      db.transaction().execute((tx) =>
        applications.insertApplication(tx, {
          ...{ tenant_id: tenantId, id: randomUUID(), name: 'A', type: 'private' },
          ...{ permissions: [], rules: '[]', key_hash: randomBytes(32), last_four: 'abcd' },
        }),
      ),
    findApplication: (db) => applications.findApplication(db, tenantId, applicationId),
    listApplications: [
      (db) => applications.listApplications(db, tenantId, { ids: [] }, page),
      (db) => applications.listApplications(db, tenantId, { ids: [applicationId, randomUUID()], type: 'public' }, page),
      (db) => applications.listApplications(db, tenantId, { ids: [], type: 'public' }, page),
      ...orders.map(
        (order) => (db: Database) => applications.listApplications(db, tenantId, { ids: [] }, { ...page, ...order }),
      ),
      ...['application 13', 'cation 1*3', 'xy', '---'].map(
        (name) => (db: Database) => applications.listApplications(db, tenantId, { ids: [], name }, page),
      ),
      (db) => applications.listApplications(db, tenantId, { ids: [], name: '133' }, { ...page, sort: 'name' }),
      (db) => applications.listApplications(db, tenantId, { ids: [] }, { ...page, page: 100, size: 100 }),
    ],
    lockApplication: (db) => applications.lockApplication(db, tenantId, applicationId),
    updateApplication: (db) => applications.updateApplication(db, tenantId, applicationId, author),
  } satisfies Covered<typeof applications>,
  applicationUses: {
    findUses: (['proxies', 'reactors'] as const).map(
      (table) => (db: Database) => applicationUses.findUses(db, { tenantId, applicationId, table }, 100),
    ),
  } satisfies Covered<typeof applicationUses>,
  applicationKeys: {
    insertKey: (db) =>
      keys.insertKey(db, {
        tenantId,
        applicationId,
        version: 2,
        keyHash: randomBytes(32),
        lastFour: 'abcd',
        createdBy: null,
      }),
    listKeys: (db) => keys.listKeys(db, tenantId, applicationId),
    nextKeyVersion: (db) => keys.nextKeyVersion(db, tenantId, applicationId),
    deleteKey: (db) => keys.deleteKey(db, tenantId, applicationId, randomUUID()),
    deleteKeys: (db) => keys.deleteKeys(db, tenantId, filled.applicationId(23)),
    keepOldKeyColumn: (db) => keys.keepOldKeyColumn(db, tenantId, applicationId),
    isKey: (db) => keys.isKey(db, randomBytes(32)),
  } satisfies Covered<typeof keys>,
  proxies: {
    insertProxy: (db) =>
      proxies.insertProxy(db, {
        ...{ tenant_id: tenantId, id: randomUUID(), name: 'P', destination_url: 'https://example.com' },
        ...{ key_hash: randomBytes(32), key_ciphertext: randomBytes(32) },
      }),
    findProxy: (db) => proxies.findProxy(db, tenantId, proxyId),
    findCallRules: [
      (db) => proxies.findCallRules(db, tenantId, { id: proxyId }),
      (db) => proxies.findCallRules(db, tenantId, { path_name: 'payments' }),
    ],
    lockProxy: (db) => proxies.lockProxy(db, tenantId, proxyId),
    listProxies: [
      list([]),
      list([proxyId, randomUUID()]),
      ...['3f2a9', '*3f2*a', 'proxy', 'prox*', 'xy', 'y', '*', '%', 'proxy*f0*e', 'nothing'].map((name) =>
        list([], name),
      ),
      list([proxyId], 'proxy'),
      ...orders.map(
        (order) => (db: Database) =>
          proxies.listProxies(db, tenantId, { ids: [], name: undefined }, { ...page, ...order }),
      ),
      (db) => proxies.listProxies(db, tenantId, { ids: [], name: undefined }, { ...page, page: 100, size: 100 }),
      (db) => proxies.listProxies(db, tenantId, { ids: [], name: undefined, pathName: 'payments' }, page),
    ],
    updateProxy: (db) => proxies.updateProxy(db, tenantId, proxyId, author),
    deleteProxy: (db) => proxies.deleteProxy(db, tenantId, proxyId),
  } satisfies Covered<typeof proxies>,
  reactors: {
    insertReactor: (db) =>
      reactors.insertReactor(db, {
        tenant_id: tenantId,
        id: randomUUID(),
        name: 'R',
        formula_id: filled.formulaId(13),
      }),
    findReactor: (db) => reactors.findReactor(db, tenantId, reactorId),
    lockReactor: (db) => reactors.lockReactor(db, tenantId, reactorId),
    listReactors: [
      (db) => reactors.listReactors(db, tenantId, filterOf({}), page),
      ...orders.map(
        (order) => (db: Database) => reactors.listReactors(db, tenantId, filterOf({}), { ...page, ...order }),
      ),
      (db) => reactors.listReactors(db, tenantId, filterOf({ ids: [reactorId, randomUUID()] }), page),
      (db) => reactors.listReactors(db, tenantId, filterOf({ name: '3f2a9' }), page),
      (db) => reactors.listReactors(db, tenantId, filterOf({ formulaId: filled.formulaId(13) }), page),
    ],
    updateReactor: (db) => reactors.updateReactor(db, { tenantId, id: reactorId }, author),
    deleteReactor: (db) => reactors.deleteReactor(db, tenantId, reactorId),
  } satisfies Covered<typeof reactors>,
  formulas: {
    insertFormula: (db) =>
      formulas.insertFormula(db, { tenant_id: tenantId, id: randomUUID(), name: 'F', code: 'code' }),
    lockFormula: (db) => formulas.lockFormula(db, tenantId, filled.formulaId(13)),
    findFormula: (db) => formulas.findFormula(db, tenantId, filled.formulaId(13)),
    listFormulas: [
      (db) => formulas.listFormulas(db, tenantId, { ids: [], name: undefined }, page),
      ...orders.map(
        (order) => (db: Database) =>
          formulas.listFormulas(db, tenantId, { ids: [], name: undefined }, { ...page, ...order }),
      ),
      (db) => formulas.listFormulas(db, tenantId, { ids: [filled.formulaId(13)], name: undefined }, page),
      (db) => formulas.listFormulas(db, tenantId, { ids: [], name: '3f2a9' }, page),
    ],
    updateFormula: (db) => formulas.updateFormula(db, { tenantId, id: filled.formulaId(13) }, author),
    // No reactor uses a formula of an even number.
    deleteFormula: (db) => formulas.deleteFormula(db, filled.tenantId(4), filled.formulaId(14)),
  } satisfies Covered<typeof formulas>,
  search: {
    searchByName: (['applications', 'proxies', 'reactors', 'reactor_formulas'] as const).flatMap((table) =>
      searchTexts.map((text) => (db: Database) => search.searchByName(db, { tenantId, table, text })),
    ),
    searchMembers: searchTexts.map((text) => (db: Database) => search.searchMembers(db, { tenantId, text })),
  } satisfies Covered<typeof search>,
  memberLists: (['created_at', 'email'] as const).map(
    (sort) => (db: Database) =>
      members.listMembers(db, tenantId, { userIds: [], email: '3f2a9' }, { page: 1, size: 20, sort }),
  ),
  sessions: {
    insertSession: (db) =>
      sessions.insertSession(db, {
        ...{ tenant_id: tenantId, id: randomUUID(), application_id: applicationId },
        ...{ key_hash: randomBytes(32), nonce_hash: randomBytes(32), made_from: '192.0.2.1', network: '192.0.2.0/24' },
      }),
    makeRoom: (db) => sessions.makeRoom(db, { tenantId, applicationId }, limits),
    lockByNonce: (db) => sessions.lockByNonce(db, tenantId, randomBytes(32)),
    countAuthorized: (db) => sessions.countAuthorized(db, tenantId, 100_000),
    giveGrants: (db) =>
      sessions.giveGrants(db, tenantId, randomUUID(), {
        ...{ authorized_by: applicationId, authorizing_key_id: randomUUID(), permissions: [], rules: '[]' },
        ...{ proxies: null, reactors: null, address: null, fields: false, expires_at: '2999-01-01T00:00:00Z' },
      }),
    findSessionById: (db) => sessions.findSessionById(db, tenantId, randomUUID()),
    listSessions: (db) => sessions.listSessions(db, tenantId, page),
    deleteSession: (db) => sessions.deleteSession(db, tenantId, randomUUID()),
  } satisfies Covered<typeof sessions>,
  invocationCounts: {
    readCounts: ([60, 900, 21_600] as const).flatMap((step) =>
      (['tenant', 'proxy'] as const).map((kind) => (db: Database) => {
        const series = { kind, id: kind === 'proxy' ? proxyId : tenantId };
        const to = Math.floor(Date.now() / 1000);
        return readCounts(db, tenantId, { series, step, from: to - 120 * step, to });
      }),
    ),
    writeCounts: (db) => {
      const counts = { requests: 1, destinationErrors: 0, errors: new Map(), durations: new Map([[7, 1]]) };
      const minute = Math.floor(Date.now() / 60_000);
      return writeCounts(db, tenantId, [{ series: { kind: 'proxy', id: proxyId }, minute, counts }]);
    },
  } satisfies Record<string, Query | Query[]>,
  tenants: {
    insertTenant: (db) => tenants.insertTenant(db, { id: randomUUID(), owner_id: randomUUID(), name: 'T' }),
    findTenant: (db) => tenants.findTenant(db, tenantId),
    lockTenant: (db) => tenants.lockTenant(db, tenantId),
    lockTenantRow: (db) => tenants.lockTenantRow(db, tenantId),
    lockToClose: (db) => tenants.lockToClose(db, filled.tenantId(3)),
    updateTenant: (db) => tenants.updateTenant(db, tenantId, { name: 'T', ...author }),
    closeTenant: (db) => tenants.closeTenant(db, filled.tenantId(4), randomUUID()),
  } satisfies Covered<typeof tenants>,
  callers: {
    findCaller: (db) => findCaller(db, randomBytes(32)),
    findSession: (db) => findSession(db, randomBytes(32)),
    findCallerById: (db) => findCallerById(db, tenantId, applicationId),
  } satisfies Record<string, Query>,
};

const cases = Object.values(queries).flatMap((module) =>
  Object.entries<Query | Query[]>(module).flatMap(([name, one]) => [one].flat().map((query) => [name, query] as const)),
);

test.each(cases)('%s reads through an index at 100,000 rows', async (_name, query) => {
  const statements = await recorded(query);
  expect(statements.length).toBeGreaterThan(0);
  expect(await findFullScans(large.current, statements)).toEqual([]);
});

async function recorded(query: Query) {
  const { db, statements } = recordStatements(large.current);
  await query(db);
  return statements;
}

test.each(['applications', 'proxies', 'reactors', 'reactor_formulas'] as const)(
  'names of %s are read in the order of their index',
  async (table) => {
    const sorted = { ...page, sort: 'name' } as const;
    const lists = {
      applications: (db) => applications.listApplications(db, tenantId, { ids: [] }, sorted),
      proxies: (db) => proxies.listProxies(db, tenantId, { ids: [], name: undefined }, sorted),
      reactors: (db) => reactors.listReactors(db, tenantId, filterOf({}), sorted),
      reactor_formulas: (db) => formulas.listFormulas(db, tenantId, { ids: [], name: undefined }, sorted),
    } satisfies Record<string, Query>;
    const statements = await recorded(lists[table]);
    expect(await findIndexes(large.current, statements.slice(-1))).toContain(`${table}_by_name`);
  },
);

test.each(['applications', 'proxies', 'reactors', 'reactor_formulas'] as const)(
  'names of %s are compared within their Tenant, by lists and searches',
  async (table) => {
    for (const text of ['3f2a9', '*3F2*a', 'proxy 3f2', 'nothing']) {
      const filtered = {
        applications: (db) => applications.listApplications(db, tenantId, { ids: [], name: text }, page),
        proxies: (db) => proxies.listProxies(db, tenantId, { ids: [], name: text }, page),
        reactors: (db) => reactors.listReactors(db, tenantId, filterOf({ name: text }), page),
        reactor_formulas: (db) => formulas.listFormulas(db, tenantId, { ids: [], name: text }, page),
      } satisfies Record<string, Query>;
      const statements = [
        ...(await recorded(filtered[table])),
        ...(await recorded((db) => search.searchByName(db, { tenantId, table, text }))),
      ];
      const { rows } = await sql<{ name: string }>`
        select indexrelid::regclass::text as name from pg_index
        where indrelid = ${table}::regclass and indkey[0] = (
          select attnum from pg_attribute where attrelid = ${table}::regclass and attname = 'tenant_id')
      `.execute(large.current);
      const ofTenants = rows.map(({ name }) => name);
      expect(ofTenants).not.toEqual([]);
      const read = (await findIndexes(large.current, statements)).filter((name) => name.startsWith(table));
      expect(read).not.toEqual([]);
      expect(ofTenants).toEqual(expect.arrayContaining(read));
    }
  },
);

test('a search compares e-mail addresses of its Tenant alone, also before Postgres knows statistics', async () => {
  const texts = ['example', 'nothing', '3f2a9'];
  const tx = await large.current.startTransaction().execute();
  try {
    await sql`delete from pg_statistic where starelid in ('users'::regclass, 'members'::regclass)`.execute(tx);
    for (const text of texts) {
      const statements = await recorded((db) => search.searchMembers(db, { tenantId, text }));
      expect(await countBuffers(tx, statements)).toBeLessThan(1000);
    }
    // The control: a join, as for a list
    const joined = await recorded((db) =>
      db
        .selectFrom('members')
        .innerJoin('users', 'users.id', 'user_id')
        .select('email')
        .where('tenant_id', '=', tenantId)
        .where('email', 'ilike', '%nothing%')
        .execute(),
    );
    expect(await countBuffers(tx, joined)).toBeGreaterThan(1500);
  } finally {
    await tx.rollback().execute();
  }
});

describe('a deep page reads an index of ids on the way, and rows for itself alone', () => {
  const deep = { ...page, page: 90, size: 100 };
  const buffersOf = async (query: Query) => countBuffers(large.current, (await recorded(query)).slice(-1));

  test('Applications', async () => {
    await vacuumWhole(large.current, 'applications');
    expect(await buffersOf((db) => applications.listApplications(db, tenantId, { ids: [] }, deep))).toBeLessThan(900);
    // The control: a column that the index does not have
    const byType: Query = (db) => applications.listApplications(db, tenantId, { ids: [], type: 'private' }, deep);
    expect(await buffersOf(byType)).toBeGreaterThan(1200);
  });

  test('Proxies', async () => {
    await vacuumWhole(large.current, 'proxies');
    expect(await buffersOf((db) => proxies.listProxies(db, tenantId, { ids: [], name: undefined }, deep))).toBeLessThan(
      1300,
    );
    expect(
      await buffersOf((db) => proxies.listProxies(db, tenantId, { ids: [], name: 'proxy' }, deep)),
    ).toBeGreaterThan(2000);
  });

  test('Applications and Proxies by name', async () => {
    await vacuumWhole(large.current, 'applications');
    await vacuumWhole(large.current, 'proxies');
    const byName = { ...deep, sort: 'name' } as const;
    expect(await buffersOf((db) => applications.listApplications(db, tenantId, { ids: [] }, byName))).toBeLessThan(
      1000,
    );
    expect(
      await buffersOf((db) => proxies.listProxies(db, tenantId, { ids: [], name: undefined }, byName)),
    ).toBeLessThan(1300);
    // The control: a column that the index does not have
    expect(
      await buffersOf((db) => applications.listApplications(db, tenantId, { ids: [], type: 'private' }, byName)),
    ).toBeGreaterThan(1200);
  });

  test('past the end nothing but the total is read', async () => {
    const past = { ...page, page: 1000, size: 100 };
    const lists: Query[] = [
      (db) => applications.listApplications(db, tenantId, { ids: [] }, past),
      (db) => proxies.listProxies(db, tenantId, { ids: [], name: undefined }, past),
      (db) => sessions.listSessions(db, tenantId, past),
    ];
    for (const query of lists) expect(await recorded(query)).toHaveLength(1);
  });
});

describe('what the test itself would find', () => {
  /** The change of the database is then undone. */
  async function findAfter(change: RawBuilder<unknown>, query: Query): Promise<string[]> {
    const statements = await recorded(query);
    const tx = await large.current.startTransaction().execute();
    try {
      await change.execute(tx);
      return await findFullScans(tx, statements);
    } finally {
      await tx.rollback().execute();
    }
  }

  test('a table whose indexes are missing', async () => {
    const change = sql`alter table proxies drop constraint proxies_pkey cascade; drop index proxies_newest, proxies_by_name`;
    expect(await findAfter(change, list([], '3f2a9'))).toContainEqual(expect.stringMatching(/^Seq Scan of proxies: /));
  });

  test('a comparison that no index can be searched by', async () => {
    const query: Query = (db) =>
      db.selectFrom('applications').select('id').where('expires_at', '<=', sql<string>`clock_timestamp()`).execute();
    expect(await findAfter(sql`select 1`, query)).toEqual([expect.stringMatching(/Scan of applications/)]);
  });
});
