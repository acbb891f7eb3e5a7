import { startDestination, useStack } from '@sluice/testing';
import { connectWithAllKeys } from '../../../../packages/cli/src/profile/connect.ts';
import { findRoutes } from '../../../../packages/cli/src/routes/find-routes.ts';
import { openRouteSession } from '../../../../packages/cli/src/routes/open-route-session.ts';
import type { Grants } from '../../../../packages/cli/src/routes/session-rules.ts';
import { openCommandLine, runSluice } from './open-command-line.ts';

/** The module by which commands make sessions for routes, at the real API. */
const world = useStack(async (closing) => {
  const commandLine = await openCommandLine(closing);
  const { platform, env, backend } = commandLine;
  const page = await platform.createApplication({ type: 'public', permissions: ['token:create'] });
  await runSluice(['login'], { env, stdin: page.key });
  const destination = await startDestination(closing);
  const tokenize = async (body: object) => (await platform.call('POST', '/tokens', { key: backend.key, body })).body.id;
  const secret = await tokenize({ type: 'token', data: 'the secret' });
  const named = await platform.createProxy({
    ...{ destination_url: destination.url, path_name: 'named' },
    request_headers: { Authorization: `Bearer {{ ${secret} }}` },
  });
  await platform.createProxy({ destination_url: destination.url, path_name: 'other' });
  const { signal } = new AbortController();
  const terminal = { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, env, signal };
  const clients = await connectWithAllKeys(terminal, undefined);
  const call = (route: string, key: string, body: object = {}) =>
    platform.call('POST', `/routes/${route}/x`, { key, body });
  const open = async (routes: string[], grants: Grants = {}, onKey?: (key: string) => void) =>
    openRouteSession(clients, await findRoutes(clients.management, routes, signal), {
      ...{ seconds: 24 * 3600, signal, ...grants },
      ...(onKey && { onKey }),
    });
  return { platform, clients, destination, named, tokenize, call, open, signal };
});

test('it calls the named routes, with the tokens of their headers, and no other route', async () => {
  const { call, open, destination } = world.current;
  const session = await open(['named']);
  expect((await call('named', session.key)).status).toBe(200);
  expect(destination.seen.at(-1)?.authorization).toBe('Bearer the secret');
  expect((await call('other', session.key)).status).toBe(403);
});

test('it uses tokens that are named, by id and by container, and no others', async () => {
  const { call, open, tokenize, destination } = world.current;
  const byId = await tokenize({ type: 'token', data: 'by id' });
  const inside = await tokenize({ type: 'token', data: 'inside', containers: ['/mine/a/'] });
  const outside = await tokenize({ type: 'token', data: 'outside', containers: ['/theirs/'] });
  const { key } = await open(['other'], { tokens: [byId], containers: ['/mine/'] });
  expect((await call('other', key, { a: `{{ ${byId} }}`, b: `{{ ${inside} }}` })).status).toBe(200);
  expect(destination.seen.at(-1)?.body).toBe('{"a":"by id","b":"inside"}');
  expect((await call('other', key, { a: `{{ ${outside} }}` })).status).toBe(403);
  const all = await open(['other'], { allTokens: true });
  expect((await call('other', all.key, { a: `{{ ${outside} }}` })).status).toBe(200);
});

test('one that may create uses what it has created', async () => {
  const { call, open, platform, destination } = world.current;
  const { key, container } = await open(['other'], { mayCreate: true });
  const body = { type: 'token', data: 'created', containers: [container] };
  const token = await platform.call('POST', '/tokens', { key, body });
  expect(token.status).toBe(201);
  expect((await call('other', key, { a: `{{ ${token.body.id} }}` })).status).toBe(200);
  expect(destination.seen.at(-1)?.body).toBe('{"a":"created"}');
  const elsewhere = await platform.call('POST', '/tokens', { key, body: { ...body, containers: ['/mine/'] } });
  expect(elsewhere.status).toBe(403);
});

test('its key is known before it is accepted, and refused once it has ended, which may be told twice', async () => {
  const { call, open } = world.current;
  const known: string[] = [];
  const session = await open(['other'], {}, (key) => known.push(key));
  expect(known).toEqual([session.key]);
  expect((await call('other', session.key)).status).toBe(200);
  await session.end();
  expect((await call('other', session.key)).status).toBe(401);
  await session.end();
});

test('a route that does not exist is named', async () => {
  const { clients, signal } = world.current;
  const finding = findRoutes(clients.management, ['named', 'none', 'name'], signal);
  await expect(finding).rejects.toThrow('There is no route none, name.');
});
