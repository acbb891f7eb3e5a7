// Every end of a session, in processes that have it in their caches: the gateway and the token vault.
import { setTimeout as wait } from 'node:timers/promises';
import { startDestination, useStack } from '@sluice/testing';
import { type OpenSession, openSession } from './open-session.ts';
import { startPlatform } from './platform.ts';

jest.setTimeout(120_000);

const world = useStack(async (closing) => {
  const platform = await startPlatform(closing);
  return { platform, destination: await startDestination(closing) };
});

const everything = {
  rules: [{ priority: 1, container: '/', transform: 'reveal', permissions: ['token:read', 'token:use'] }],
};

const statusesOf = async ({ read, invoke }: OpenSession) => ({
  vault: (await read()).status,
  gateway: (await invoke()).status,
});
const accepted = { vault: 200, gateway: 200 };
const refused = { vault: 401, gateway: 401 };

/** Both processes have looked it up, and answer from memory. */
async function warm(session: OpenSession) {
  for (let i = 0; i < 3; i++) expect(await statusesOf(session)).toEqual(accepted);
}

type Change = (session: OpenSession) => Promise<{ status: number }>;
const manage: OpenSession['platform']['manage'] = (...request) => world.current.platform.manage(...request);

/** The id of the key that authorized it: the oldest. */
async function authorizingKeyOf({ backend }: OpenSession): Promise<string> {
  return (await manage('GET', `/applications/${backend.id}/keys`)).body.at(-1).id;
}

test.each<[string, Change]>([
  ['it is deleted', ({ id }) => manage('DELETE', `/sessions/${id}`)],
  ['it ends itself', ({ platform, key }) => platform.call('DELETE', '/sessions/self', { key })],
  ['the Application that made it is deleted', ({ page }) => manage('DELETE', `/applications/${page.id}`)],
  ['the Application that authorized it is deleted', ({ backend }) => manage('DELETE', `/applications/${backend.id}`)],
  [
    'the keys of the Application that authorized it are regenerated',
    ({ backend }) => manage('POST', `/applications/${backend.id}/regenerate`),
  ],
  [
    'the key that authorized it is deleted',
    async (session) => {
      await manage('POST', `/applications/${session.backend.id}/keys`);
      return manage('DELETE', `/applications/${session.backend.id}/keys/${await authorizingKeyOf(session)}`);
    },
  ],
])('it is refused everywhere when the answer goes out that %s', async (_, end) => {
  const session = await openSession(world.current, everything);
  await warm(session);
  expect((await end(session)).status).toBeLessThan(300);
  expect(await statusesOf(session)).toEqual(refused);
});

test.each<[string, Change]>([
  [
    'the keys of the Application that made it are regenerated',
    ({ page }) => manage('POST', `/applications/${page.id}/regenerate`),
  ],
  [
    'another key of the Application that authorized it is deleted',
    async ({ backend }) => {
      const { body } = await manage('POST', `/applications/${backend.id}/keys`);
      return manage('DELETE', `/applications/${backend.id}/keys/${body.id}`);
    },
  ],
])('it stays where %s', async (_, change) => {
  const session = await openSession(world.current, everything);
  await warm(session);
  expect((await change(session)).status).toBeLessThan(300);
  expect(await statusesOf(session)).toEqual(accepted);
});

test('it is refused from the moment on at which it, its key or either Application expires', async () => {
  const moment = Date.now() + 8000;
  const soon = new Date(moment).toISOString();
  const later = { ...everything, expires_at: new Date(moment + 3600_000).toISOString() };
  const sessions = {
    itself: await openSession(world.current, { ...everything, expires_at: soon }),
    key: await openSession(world.current, later, { key: soon }),
    maker: await openSession(world.current, later, { maker: soon }),
    backend: await openSession(world.current, later, { backend: soon }),
    none: await openSession(world.current, later),
  };
  for (const session of Object.values(sessions)) await warm(session);
  expect(Date.now()).toBeLessThan(moment);
  await wait(moment - Date.now() + 1);
  const seen: Record<string, object> = {};
  for (const [name, session] of Object.entries(sessions)) seen[name] = await statusesOf(session);
  expect(seen).toEqual({ itself: refused, key: refused, maker: refused, backend: refused, none: accepted });
});

test('it is refused everywhere when the answer goes out that its Tenant is closed', async () => {
  const session = await openSession(world.current, everything);
  await warm(session);
  expect((await manage('DELETE', '/tenants/self')).status).toBe(204);
  // Its Proxy is gone as well, and the gateway looks for that first.
  expect(await statusesOf(session)).toEqual({ vault: 401, gateway: 404 });
});
