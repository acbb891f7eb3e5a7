import { openDisclosureLog } from '@sluice/audit';
import { tagOf } from '@sluice/cache-coherence';
import { cacheCallers, generateApiKey, KeyHashes, KeyUses, readPepper } from '@sluice/credentials';
import {
  eventually,
  openTestCoherence,
  openTestDatabase,
  randomSecrets,
  recordStatements,
  useStack,
} from '@sluice/testing';
import { assembleVault, localKeyWrapper } from '@sluice/vault';
import { headerNamesFor } from '../http/header-names.ts';
import { createTestTenant } from '../testing/test-tenant.ts';
import type { ProxyDefinition } from './definition.ts';
import { ProxyByKey } from './proxy-by-key.ts';
import { ProxyByName } from './proxy-by-name.ts';
import type { Candidate } from './route-keys.ts';

const setup = useStack(async (stack) => {
  const database = await openTestDatabase(stack);
  const { caches, changes } = await openTestCoherence(database, stack);
  const secrets = randomSecrets();
  const onError = (error: unknown) => console.error(error);
  const disclosures = openDisclosureLog({ DISCLOSURE_QUEUE_LIMIT: 100 }, { db: database.db, stack, onError });
  const { db, statements } = recordStatements(database.db);
  const vault = assembleVault({ db, keyWrapper: localKeyWrapper(secrets.ROOT_KEY), caches, changes, disclosures });
  const limits = { maxEntries: 100, maxBytes: 1_000_000 };
  const context = {
    db,
    vault,
    proxies: caches.open<ProxyDefinition>('proxies', { ...limits, remembersAbsent: true }),
    callers: cacheCallers(db, caches, limits),
    pepper: readPepper(secrets.KEY_PEPPER),
    keyUses: new KeyUses(),
    headerNames: headerNamesFor('SVC'),
  };
  const announce = async (tenantId: string, tag: string) => {
    await changes.barrier(await changes.record(database.db, tenantId, [tag]));
  };
  return { context, statements, announce, tenant: await createTestTenant({ db: database.db, vault, secrets }) };
});

function selecting(pathName: string, key: string, place: Candidate['place'] | 'own') {
  const { context } = setup.current;
  const candidates = place === 'own' ? [] : [{ key, place }];
  const route = { pathName, path: `/routes/${pathName}`, host: 'localhost', candidates, isBrowser: false };
  const keys = { proxyKey: '', apiKey: place === 'own' ? key : undefined, hashes: new KeyHashes() };
  return new ProxyByName(route, keys, context);
}

async function select(...[pathName, key, place]: Parameters<typeof selecting>): Promise<string> {
  const selection = selecting(pathName, key, place);
  try {
    const proxy = await selection.find();
    if (!proxy) return 'not found';
    const caller = await selection.authenticate(proxy);
    return `${proxy.id} for ${caller.id}`;
  } catch (error) {
    return error instanceof Error ? error.message : 'no error';
  }
}

/** The texts of the statements that it causes. */
async function statementsOf(act: () => Promise<unknown>): Promise<string[]> {
  const { statements } = setup.current;
  const before = statements.length;
  await act();
  return statements.slice(before).map(({ sql }) => sql);
}

/** On a busy machine a lease can end, and what was remembered with it; then the next time is the first again. */
async function costsNothing(act: () => Promise<unknown>): Promise<void> {
  await eventually('it costs no query', async () => (await statementsOf(act)).length === 0);
}

describe.each<Candidate['place'] | 'own'>(['own', 'bearer', 'x-api-key', 'basic'])('a key in the place %s', (place) => {
  test('costs a query for each kind once, and none when it is warm, until something changes', async () => {
    const { tenant, announce } = setup.current;
    const pathName = `warm-${place}`;
    const { id, key: callerKey } = await tenant.application();
    const proxy = await tenant.proxy({
      destination: 'https://example.com',
      pathName,
      acceptKeyAs: ['bearer', 'x-api-key', 'basic'],
    });
    const ask = () => select(pathName, callerKey, place);
    expect(await ask()).toBe(`${proxy.id} for ${id}`);
    await costsNothing(ask);
    await announce(tenant.id, tagOf.proxy(proxy.id));
    expect(await statementsOf(ask)).not.toEqual([]); // control
    await costsNothing(ask);
  });

  test('costs no query for a name that is absent, nor for a key that is unknown, the second time', async () => {
    const { key } = await setup.current.tenant.application();
    const nobodys = generateApiKey('test', 'private');
    for (const asking of [() => select(`nothing-${place}`, key, place), () => select('nothing', nobodys, place)]) {
      expect(await statementsOf(asking)).not.toEqual([]);
      await costsNothing(asking);
    }
  });
});

test('a name that no Proxy can have costs no query and is not remembered, however long it is', async () => {
  const { key } = await setup.current.tenant.application();
  await select('some', key, 'own');
  for (const name of ['x'.repeat(64), 'x'.repeat(15_000), 'Upper', '-a', 'a%20b', '']) {
    expect(await statementsOf(async () => expect(await select(name, key, 'own')).toBe('not found'))).toEqual([]);
  }
  expect(selecting('x'.repeat(15_000), key, 'own').notFound().detail).toBe('There is no such route');
});

test('the Proxy that was found first is found again without its caller, and is no other that has the name now', async () => {
  const { tenant, context, announce } = setup.current;
  const { db } = context;
  const { id: callerId, key } = await tenant.application();
  const first = await tenant.proxy({ destination: 'https://example.com', pathName: 'moves' });
  const second = await tenant.proxy({ destination: 'https://example.com', pathName: 'other' });
  const selection = selecting('moves', key, 'own');
  expect((await selection.find())?.id).toBe(first.id);
  await db.deleteFrom('application_keys').where('application_id', '=', callerId).execute();
  await announce(tenant.id, tagOf.application(callerId));
  await expect(selection.find()).rejects.toMatchObject({ code: 'unauthenticated' });
  expect((await selection.findAgain())?.id).toBe(first.id);
  await db.updateTable('proxies').set({ path_name: null }).where('id', '=', first.id).execute();
  await db.updateTable('proxies').set({ path_name: 'moves' }).where('id', '=', second.id).execute();
  for (const { id } of [first, second]) await announce(tenant.id, tagOf.proxy(id));
  expect((await selecting('moves', (await tenant.application()).key, 'own').find())?.id).toBe(second.id); // control
  expect(await selection.findAgain()).toBeUndefined();
});

test('a Proxy that gets a name goes on with the calls that wait for it by its key, and not with those of its route', async () => {
  const { tenant, context } = setup.current;
  const { key } = await tenant.application();
  await tenant.proxy({ destination: 'https://example.com', pathName: 'named' });
  const found = await selecting('named', key, 'own').find();
  if (!found) throw new Error('There is a Proxy');
  const before = { ...found, pathName: undefined };
  const byKey = new ProxyByKey({ proxyKey: '', apiKey: undefined, hashes: new KeyHashes() }, context);
  expect(byKey.goOnWith(found, before, false)).toBe(found);
  expect(byKey.goOnWith(found, { ...before, requireAuth: !found.requireAuth }, false)).toBeUndefined();
  expect(selecting('named', key, 'own').goOnWith(found, before, false)).toBeUndefined();
});
