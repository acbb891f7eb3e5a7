import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { originOf, readKeyFile, signCheckpoint, verifyCheckpoint, writePublicKey } from '@sluice/ledger';
import { call, useStack } from '@sluice/testing';
import { startTestConsole } from '../testing/test-console.ts';
import { startTestManagement } from '../testing/test-management.ts';
import { ledgerKeyAnswer } from './ledger-key.ts';

const [current, old] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
const settings = {
  LEDGER_PUBLIC_KEYS: [current, old].map(({ publicKey }) => writePublicKey(publicKey)).join(', '),
  LEDGER_ORIGIN: 'sluice.example',
};
const api = useStack((stack) => startTestManagement(stack, settings));
const consoleApi = useStack((stack) => startTestConsole(stack, settings));
const unset = useStack((stack) => startTestManagement(stack));
const path = (id: string) => `/.well-known/sluice-ledger-key/${id}`;

test('anybody gets a verifier line for each key, old ones too, which open what they signed', async () => {
  const { url, tenant } = api.current;
  const { status, headers, body } = await call(url, 'GET', path(tenant.tenant_id));
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(headers.get('cache-control')).toBe('public, max-age=300');
  const origin = originOf('sluice.example', tenant.tenant_id);
  const verifiers = readKeyFile(body);
  expect(verifiers.map(({ name }) => name)).toEqual([origin, origin]);
  for (const { privateKey } of [current, old]) {
    const note = signCheckpoint({ origin, size: 1, root: Buffer.alloc(32) }, privateKey);
    expect(verifyCheckpoint(note, verifiers)).toMatchObject({ origin, size: 1 });
  }
});

test('it has the same form for a Tenant, another one, and a UUID that is none; in capitals it is the same', async () => {
  const { url, tenant, stranger } = api.current;
  const shape = async (id: string) => {
    const { status, headers, body } = await call(url, 'GET', path(id));
    const names = [...headers.keys()];
    const lines = String(body)
      .replaceAll(id, 'ID')
      .replace(/\+[^\n]+/g, '');
    return { status, names, lines, length: body.length };
  };
  const own = await shape(tenant.tenant_id);
  for (const id of [stranger.tenant_id, randomUUID()]) expect(await shape(id)).toEqual(own);
  const capitals = await call(url, 'GET', path(tenant.tenant_id.toUpperCase()));
  expect(capitals.body).toBe((await call(url, 'GET', path(tenant.tenant_id))).body);
});

test('pages of the console read it under /api of their host; nothing else does', async () => {
  const { browser, url, tenant } = consoleApi.current;
  const at = path(tenant.tenant_id);
  const { send } = browser();
  const { status, body } = await send('GET', `/api${at}`);
  expect([status, body]).toEqual([200, (await call(url, 'GET', at)).body]);
  expect((await send('GET', `/api${at}`, { headers: { 'Sec-Fetch-Site': 'cross-site' } })).status).toBe(403);
  expect((await send('GET', at)).status).toBe(404);
});

test('HEAD has the headers alone; no UUID is 400, another method 405, no setting 404 that names it', async () => {
  const { url } = api.current;
  const head = await call(url, 'HEAD', path(randomUUID()));
  expect([head.status, head.body]).toEqual([200, '']);
  const bad = await call(url, 'GET', path('x'));
  expect([bad.status, bad.body.errors]).toEqual([400, { tenant_id: ['must be a UUID'] }]);
  expect((await call(url, 'POST', path(randomUUID()))).status).toBe(405);
  const none = await call(unset.current.url, 'GET', path(randomUUID()));
  expect([none.status, none.body.detail]).toEqual([404, expect.stringContaining('LEDGER_PUBLIC_KEYS')]);
});

test.each([
  [{}, 'localhost:8080'],
  [{ BASE_URL: 'http://127.0.0.1:8080' }, '127.0.0.1:8080'],
  [{ BASE_URL: 'https://vault.example/' }, 'vault.example'],
  [{ BASE_URL: 'https://new.example', LEDGER_ORIGIN: 'vault.example' }, 'vault.example'],
])('of %j the origin is %s', (addresses, origin) => {
  const { LEDGER_PUBLIC_KEYS } = settings;
  const tenant_id = randomUUID();
  const verifiers = readKeyFile(ledgerKeyAnswer({ LEDGER_PUBLIC_KEYS, ...addresses }).answer({ tenant_id }));
  expect(verifiers.map(({ name }) => name)).toEqual(Array(2).fill(originOf(origin, tenant_id)));
});

test.each(['x', 'AAAA', `${settings.LEDGER_PUBLIC_KEYS},x`])(
  'a setting that is no list of keys (%s) stops the start',
  (keys) => {
    expect(() => ledgerKeyAnswer({ ...settings, LEDGER_PUBLIC_KEYS: keys })).toThrow('LEDGER_PUBLIC_KEYS must be');
  },
);
