import { setTimeout as wait } from 'node:timers/promises';
import { startDestination, useStack } from '@sluice/testing';
import { type Created, sharePlatform } from './platform.ts';

const world = useStack(async (closing) => {
  const platform = await sharePlatform();
  return { platform, destination: await startDestination(closing) };
});

const reveal = (permissions: string[], more: object = { container: '/' }) => ({
  ...{ priority: 1, transform: 'reveal', permissions },
  ...more,
});

/** When each thing that a session depends on expires; what is not named does not. */
interface Expiries {
  maker?: string;
  backend?: string;
  key?: string;
}

/**
 * A session with these members, of an Application with `token:use` and reveal on /general/, and one token in /general/.
 */
async function createSession(part: object, expiries: Expiries = {}) {
  const { platform, destination } = world.current;
  const rules = [reveal(['token:read', 'token:use', 'token:create'], { container: '/general/' })];
  const backend = await platform.createApplication({ rules, expires_at: expiries.backend });
  const forPages = { type: 'public', permissions: ['token:create'] };
  const page = await platform.createApplication({ ...forPages, expires_at: expiries.maker });
  const token = (await platform.call('POST', '/tokens', { key: backend.key, body: { data: 'a secret value' } })).body;
  const proxy = await platform.createProxy({ destination_url: destination.url });
  const added =
    expiries.key && (await platform.manage('POST', `/applications/${backend.id}/keys`, { expires_at: expiries.key }));
  const made = (await platform.call('POST', '/sessions', { key: page.key })).body;
  const { status, body } = await platform.call('POST', '/sessions/authorize', {
    key: added ? added.body.key : backend.key,
    body: { nonce: made.nonce, ...part },
  });
  if (status !== 200) throw new Error(`authorize answered ${status}: ${JSON.stringify(body)}`);
  const key: string = made.session_key;
  const read = () => platform.call('GET', `/tokens/${token.id}`, { key });
  const invoke = (proxyKey = proxy.key) =>
    platform.call('POST', '/proxy', {
      key,
      headers: { 'SVC-PROXY-KEY': proxyKey },
      body: { value: `{{${token.id}}}` },
    });
  return { platform, backend, page, token, proxy, id: made.id as string, key, read, invoke };
}

type OpenSession = Awaited<ReturnType<typeof createSession>>;

// Every end of a session, in processes that have it in their caches: the gateway and the token vault.

const everything = { rules: [reveal(['token:read', 'token:use'])] };

const statusesOf = async ({ read, invoke }: OpenSession) => ({
  vault: (await read()).status,
  gateway: (await invoke()).status,
});
const accepted = { vault: 200, gateway: 200 };
const refused = { vault: 401, gateway: 401 };
const forbidden = { vault: 403, gateway: 403 };

/** Both processes have looked it up, and answer from memory. */
async function warm(session: OpenSession) {
  for (let i = 0; i < 3; i++) expect(await statusesOf(session)).toEqual(accepted);
  expect((await session.read()).body.data).toBe('a secret value');
}

type Change = (session: OpenSession) => Promise<{ status: number }>;
const manage: OpenSession['platform']['manage'] = (...request) => world.current.platform.manage(...request);

const ends: [string, Change][] = [
  ['it is deleted', ({ id }) => manage('DELETE', `/sessions/${id}`)],
  ['it ends itself', ({ platform, key }) => platform.call('DELETE', '/sessions/self', { key })],
  ['the Application that made it is deleted', ({ page }) => manage('DELETE', `/applications/${page.id}`)],
  ['the Application that authorized it is deleted', ({ backend }) => manage('DELETE', `/applications/${backend.id}`)],
  [
    'the keys of the Application that authorized it are regenerated',
    ({ backend }) => manage('POST', `/applications/${backend.id}/regenerate`),
  ],
  ['the key that authorized it is deleted', ({ backend }) => deleteKeyOf(backend, 'oldest')],
];

const others: [string, Change][] = [
  [
    'the keys of the Application that made it are regenerated',
    ({ page }) => manage('POST', `/applications/${page.id}/regenerate`),
  ],
  ['another key of the Application that authorized it is deleted', ({ backend }) => deleteKeyOf(backend, 'newest')],
];

const narrowed: [string, Change] = [
  'the Application that authorized it loses its rights',
  ({ backend }) => manage('PUT', `/applications/${backend.id}`, { name: 'A', permissions: ['token:create'] }),
];

/** Adds a key, and deletes that one, or the one that authorized the session. */
async function deleteKeyOf({ id }: Created, which: 'oldest' | 'newest') {
  const added = await manage('POST', `/applications/${id}/keys`);
  const oldest = (await manage('GET', `/applications/${id}/keys`)).body.at(-1);
  return manage('DELETE', `/applications/${id}/keys/${which === 'oldest' ? oldest.id : added.body.id}`);
}

test.each([
  ...ends.map(([what, change]) => [what, 'refused', change, refused] as const),
  ...others.map(([what, change]) => [what, 'accepted', change, accepted] as const),
  ...[narrowed].map(([what, change]) => [what, 'forbidden', change, forbidden] as const),
])('when the answer goes out that %s: it is %s everywhere', async (_what, _how, change, expected) => {
  const session = await createSession(everything);
  await warm(session);
  expect((await change(session)).status).toBeLessThan(300);
  expect(await statusesOf(session)).toEqual(expected);
});

test('it is refused from the moment on at which it, its key or either Application expires', async () => {
  const moment = Date.now() + 8000;
  const soon = new Date(moment).toISOString();
  const later = { ...everything, expires_at: new Date(moment + 3600_000).toISOString() };
  const sessions = {
    itself: await createSession({ ...everything, expires_at: soon }),
    key: await createSession(later, { key: soon }),
    maker: await createSession(later, { maker: soon }),
    backend: await createSession(later, { backend: soon }),
    none: await createSession(later),
  };
  for (const session of Object.values(sessions)) await warm(session);
  expect(Date.now()).toBeLessThan(moment);
  await wait(moment - Date.now() + 1);
  const seen: Record<string, object> = {};
  for (const [name, session] of Object.entries(sessions)) seen[name] = await statusesOf(session);
  expect(seen).toEqual({ itself: refused, key: refused, maker: refused, backend: refused, none: accepted });
});

test('it is refused everywhere when the answer goes out that its Tenant is closed', async () => {
  const session = await createSession(everything);
  await warm(session);
  expect((await manage('DELETE', '/tenants/self')).status).toBe(204);
  // Its Proxy is gone as well, and the gateway looks for that first.
  expect(await statusesOf(session)).toEqual({ vault: 401, gateway: 404 });
});
