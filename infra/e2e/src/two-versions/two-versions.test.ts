import { stopChild } from '@sluice/local/parts';
import { startDestination, useStack } from '@sluice/testing';
import { startPlatform } from '../platform.ts';

/** Processes of this version and of the version before on one schema, as during an upgrade and after a way back. */
const world = useStack(async (closing) => {
  const environment: Record<string, string> = {};
  const platform = await startPlatform(closing, { environment });
  const permissions = ['token:create', 'token:use', 'token:read', 'token:update'];
  const application = await platform.createApplication({ permissions });
  const { body: token } = await platform.call('POST', '/tokens', { key: application.key, body: { data: 'value' } });
  return { platform, environment, application, token, destination: await startDestination(closing) };
});

const preload = new URL('./former-version.preload.ts', import.meta.url);

type Name = 'management-api' | 'proxy-gateway' | 'token-vault';

async function restart(version: 'former' | 'present', ...names: Name[]): Promise<void> {
  const { platform, environment } = world.current;
  environment.NODE_OPTIONS = version === 'former' ? `--import=${preload.href}` : '';
  for (const name of names) {
    const child = platform.stack.processes.get(name);
    if (child) await stopChild(child, 'SIGTERM');
    await platform.stack.restart(name);
  }
}

async function createProxy(part: object = {}): Promise<{ id: string; key: string }> {
  const { platform, destination } = world.current;
  return platform.createProxy({ destination_url: destination.url, ...part });
}

/** What the destination gets of a body with an expression. */
async function invoke(proxyKey: string, token: { id: string } = world.current.token) {
  const { platform, application, destination } = world.current;
  const { status } = await platform.call('POST', '/proxy', {
    key: application.key,
    headers: { 'SVC-PROXY-KEY': proxyKey },
    body: { a: expressionOf(token) },
  });
  const seen = destination.seen.at(-1);
  return { status, body: JSON.parse(seen?.body ?? 'null'), authorization: seen?.authorization };
}

function tokenCall(method: string, path: string, body?: object, headers?: Record<string, string>) {
  const { platform, application } = world.current;
  return platform.call(method, `/tokens${path}`, { key: application.key, body, ...(headers && { headers }) });
}

const createToken = (part: object = {}) => tokenCall('POST', '', { data: 'value', ...part });
const patchToken = (id: string, body: object) => tokenCall('PATCH', `/${id}`, body, mergePatch);
const expressionOf = ({ id }: { id: string }) => `{{ ${id} }}`;
const mergePatch = { 'Content-Type': 'application/merge-patch+json' };
const restricting = { token_places: [], request_headers: { Authorization: 'ours' }, response_guard: 'redact' };

test('what restricts is refused while a process of the version before runs, and set once it has ended', async () => {
  const { platform, token } = world.current;
  const proxy = await createProxy();
  await restart('former', 'proxy-gateway', 'token-vault');
  const refused = {
    status: 503,
    body: {
      detail: expect.stringMatching(
        /^token_places, request_headers, response_guard cannot be set yet.*\(1 of proxy-gateway, 1 of token-vault\)$/,
      ),
    },
  };
  const patch = () => platform.manage('PATCH', `/proxies/${proxy.id}`, restricting, mergePatch);
  expect(await patch()).toMatchObject(refused);
  const whole = { name: 'P', destination_url: world.current.destination.url };
  expect(await platform.manage('PUT', `/proxies/${proxy.id}`, { ...whole, ...restricting })).toMatchObject(refused);
  expect(await platform.manage('POST', '/proxies', { ...whole, ...restricting })).toMatchObject(refused);
  // The process of the version before goes on working on the new schema
  expect(await invoke(proxy.key)).toEqual({ status: 200, body: { a: 'value' }, authorization: undefined });

  await restart('present', 'proxy-gateway');
  expect(await patch()).toMatchObject({ status: 503, body: { detail: expect.stringContaining('(1 of token-vault)') } });
  await restart('present', 'token-vault');
  expect((await patch()).status).toBe(204);
  expect(await invoke(proxy.key)).toEqual({ status: 200, body: { a: expressionOf(token) }, authorization: 'ours' });
});

test('a token is bound to no use while a process of the version before runs, and once it has ended it is', async () => {
  const { body: free } = await createToken();
  const { body: bound } = await createToken({ use: { max_uses: 5 } });
  const set = async () => [
    await createToken({ use: { max_uses: 1 } }),
    await patchToken(free.id, { use: { max_uses: 1 } }),
    await patchToken(bound.id, { use: { max_uses: 1 } }),
  ];
  await restart('former', 'proxy-gateway');
  const detail = expect.stringMatching(/^use cannot be set yet.*\(1 of proxy-gateway\)$/);
  expect(await set()).toMatchObject(Array(3).fill({ status: 503, body: { detail } }));
  expect((await patchToken(bound.id, { metadata: { a: 'b' } })).body.use).toEqual({ max_uses: 5 });

  await restart('present', 'proxy-gateway');
  expect((await set()).map(({ status, body }) => [status, body.use])).toEqual([
    [201, { max_uses: 1 }],
    [200, { max_uses: 1 }],
    [200, { max_uses: 1 }],
  ]);
});

test('a change by the version before keeps the use of a token, which it takes for an unknown member', async () => {
  const use = { methods: ['GET'], max_uses: 3 };
  const { body: bound } = await createToken({ use });
  await restart('former', 'token-vault');
  const changed = await patchToken(bound.id, { metadata: { a: 'b' } });
  expect(changed).toMatchObject({ status: 200, body: { metadata: { a: 'b' } } });
  expect(changed.body).not.toHaveProperty('use');
  const { body: unbound } = await createToken({ use });
  expect(unbound).not.toHaveProperty('use');
  await restart('present', 'token-vault');
  expect((await tokenCall('GET', `/${bound.id}`)).body).toMatchObject({ use, uses: 0, metadata: { a: 'b' } });
  expect((await tokenCall('GET', `/${unbound.id}`)).body).not.toHaveProperty('use');
});

test('changes by the version before keep what it does not know', async () => {
  const { platform, token } = world.current;
  const proxy = await createProxy(restricting);
  const path = `/proxies/${proxy.id}`;
  await restart('former', 'management-api');
  const { body: read } = await platform.manage('GET', path);
  expect(read).not.toHaveProperty('token_places');
  expect(await platform.manage('PUT', path, { ...read, name: 'Changed' })).toMatchObject({ status: 200 });
  expect((await platform.manage('PATCH', path, { require_auth: true }, mergePatch)).status).toBe(204);
  expect(await invoke(proxy.key)).toEqual({ status: 200, body: { a: expressionOf(token) }, authorization: 'ours' });

  await restart('present', 'management-api');
  expect((await platform.manage('GET', path)).body).toMatchObject({ name: 'Changed', ...restricting });
  // A client of the version before, at this version
  expect(await platform.manage('PUT', path, { ...read, name: 'Again' })).toMatchObject({
    status: 200,
    body: { name: 'Again', ...restricting },
  });
});

test('back at the version before the members are ignored, which the way back says first', async () => {
  const proxy = await createProxy(restricting);
  const { body: bound } = await createToken({ use: { methods: ['GET'] } });
  const open = await createProxy();
  expect((await invoke(open.key, bound)).status).toBe(403);
  await restart('former', 'proxy-gateway');
  expect(await invoke(proxy.key)).toEqual({ status: 200, body: { a: 'value' }, authorization: undefined });
  expect(await invoke(open.key, bound)).toMatchObject({ status: 200, body: { a: 'value' } });
  await restart('present', 'proxy-gateway');
});
