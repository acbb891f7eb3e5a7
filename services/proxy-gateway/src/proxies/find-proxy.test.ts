import { openDisclosureLog } from '@sluice/audit';
import { KeyHashes, readPepper } from '@sluice/credentials';
import { openTestCoherence, openTestDatabase, randomSecrets, useStack } from '@sluice/testing';
import { assembleVault, localKeyWrapper } from '@sluice/vault';
import { createTestTenant, type ProxyParts } from '../testing/test-tenant.ts';
import type { ProxyDefinition } from './definition.ts';
import { findByKey } from './find-proxy.ts';

const setup = useStack(async (stack) => {
  const database = await openTestDatabase(stack);
  const { db } = database;
  const { caches, changes } = await openTestCoherence(database, stack);
  const secrets = randomSecrets();
  const onError = (error: unknown) => console.error(error);
  const disclosures = openDisclosureLog({ DISCLOSURE_QUEUE_LIMIT: 100 }, { db, stack, onError });
  const vault = assembleVault({ db, keyWrapper: localKeyWrapper(secrets.ROOT_KEY), caches, changes, disclosures });
  const proxies = caches.open<ProxyDefinition>('proxies', { maxEntries: 10, maxBytes: 100_000 });
  const context = { db, vault, proxies, pepper: readPepper(secrets.KEY_PEPPER) };
  return { db, context, proxies, tenant: await createTestTenant({ db, vault, secrets }) };
});

async function found(parts: Partial<ProxyParts>, change: object = {}) {
  const { db, context, tenant } = setup.current;
  const { id, key } = await tenant.proxy({ destination: 'https://example.com', ...parts });
  if (Object.keys(change).length > 0) await db.updateTable('proxies').set(change).where('id', '=', id).execute();
  return findByKey({ proxyKey: key, apiKey: undefined, hashes: new KeyHashes() }, context);
}

test('places and time as they are set; undefined if they are not', async () => {
  expect(await found({ tokenPlaces: ['path', 'header:X-A'], headTimeoutS: 60 })).toMatchObject({
    tokenPlaces: ['path', 'header:X-A'],
    headTimeoutS: 60,
  });
  expect(await found({ tokenPlaces: [] })).toMatchObject({ tokenPlaces: [] });
  const { tokenPlaces, headTimeoutS, requestHeaders } = (await found({})) ?? {};
  expect([tokenPlaces, headTimeoutS, requestHeaders]).toEqual([undefined, undefined, undefined]);
});

test.each(['off', 'tokenize', 'redact', 'block'] as const)(
  'the guard %s as it is set; off if it is not',
  async (mode) => {
    expect((await found({ responseGuard: mode }))?.responseGuard).toBe(mode);
    expect((await found({}))?.responseGuard).toBe('off');
  },
);

test('a guard of no known mode is not stored', async () => {
  await expect(found({}, { response_guard: 'on' })).rejects.toThrow('proxies_response_guard_check');
});

test('request headers are decrypted and parsed', async () => {
  const id = '0b8f5a0e-6f63-4a1f-9d3c-1a2b3c4d5e6f';
  const requestHeaders = {
    Authorization: `Bearer {{ ${id} | last4 }}`,
    'X-A': '{{ config: KEY | upcase }}',
    'X-B': '',
  };
  expect((await found({ requestHeaders }))?.requestHeaders).toEqual([
    {
      name: 'Authorization',
      text: requestHeaders.Authorization,
      parts: [
        { kind: 'literal', text: 'Bearer ' },
        { kind: 'expression', reference: id, filters: [expect.objectContaining({ name: 'last4' })], start: 7, end: 57 },
      ],
    },
    {
      name: 'X-A',
      text: requestHeaders['X-A'],
      parts: [
        {
          kind: 'configuration',
          name: 'KEY',
          filters: [expect.objectContaining({ name: 'upcase' })],
          start: 0,
          end: 26,
        },
      ],
    },
    { name: 'X-B', text: '', parts: [] },
  ]);
});

test('they count in the memory of the cache', async () => {
  const { proxies } = setup.current;
  const before = proxies.sizeBytes;
  await found({ requestHeaders: { 'X-A': `${'{{ config: KEY | upcase }}'.repeat(10)}${'x'.repeat(5000)}` } });
  expect(proxies.sizeBytes - before).toBeGreaterThan(20_000);
});

describe('their tokens are revealed with the rights of', () => {
  const [named, other] = ['a3c0a4a2-4b5c-4f0e-8f53-000000000001', 'a3c0a4a2-4b5c-4f0e-8f53-000000000002'];

  test.each<[string, object, string | undefined]>([
    ['the caller, if the Proxy never named an Application', { named_application_id: null }, undefined],
    ['the Application that it names', {}, named],
    ['nobody else once that is gone', { application_id: null }, named],
    ['the one that a process of the version before named', { application_id: other }, other],
  ])('%s', async (_name, change, expected) => {
    const parts = expected === undefined ? {} : { applicationId: named };
    expect((await found(parts, change))?.revealingApplicationId).toBe(expected);
  });
});
