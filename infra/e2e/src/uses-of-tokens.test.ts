import { setTimeout as wait } from 'node:timers/promises';
import { call, eventually, openStoresFolder, serveHttp, useStack } from '@sluice/testing';
import { startPlatform } from './platform.ts';

/** How often limited tokens reach a destination through three gateways of which one is killed. */
const world = useStack(async (closing) => {
  const site = await startPlatform(closing, {
    directory: await openStoresFolder(closing, 'uses'),
    log: () => {},
    seed: 1,
    environment: { BODY_LIMIT_BYTES: `${256 * 1024}` },
    processes: { 'management-api': 1, 'token-vault': 1, 'proxy-gateway': 3 },
  });
  /** Calls that named each value, whole or cut off. */
  const calls = new Map<string, number>();
  const destination = await serveHttp(closing, (request, response) => {
    const named = new Set<string>();
    request.on('data', (chunk: Buffer) => {
      for (const [value] of chunk.toString('latin1').matchAll(/value-\w+/g)) named.add(value);
    });
    request.on('close', () => {
      for (const value of named) calls.set(value, (calls.get(value) ?? 0) + 1);
      response.end('{}');
    });
  });
  const management = site.node('management-1').url;
  const create = async (path: string, body: object) => {
    const answer = await call(management, 'POST', path, { key: site.credentials.management_key, body });
    if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const permissions = ['token:create', 'token:use'];
  const application = await create('/applications', { name: 'Uses', type: 'private', permissions });
  const proxy = await create('/proxies', { name: 'Uses', destination_url: destination });
  const createToken = async (data: string, use?: object): Promise<string> => {
    const answer = await call(site.node('vault-1').url, 'POST', '/tokens', {
      key: application.key,
      body: { data, use },
    });
    if (answer.status !== 201) throw new Error(`/tokens answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body.id;
  };
  return { site, calls, createToken, key: application.key as string, proxyKey: proxy.key as string };
});

/** Over the limit of bodies in memory, so it is filled while it streams. */
const large = 'x'.repeat(400 * 1024);

/** What a client does: it asks again after a while, elsewhere, until it gets an answer that does not ask for that. */
async function use(ids: readonly string[], first: number, padding = ''): Promise<number> {
  const { site, key, proxyKey } = world.current;
  const options = { key, headers: { 'SVC-PROXY-KEY': proxyKey }, body: [...ids.map((id) => `{{ ${id} }}`), padding] };
  for (let turn = first; ; turn++) {
    const { url } = site.inTurn('proxy-gateway', turn);
    const answer = await call(url, 'POST', '/proxy', options).catch(() => undefined);
    if (answer && answer.status < 500) return answer.status;
    await wait(200);
  }
}

test('200 parallel uses through three gateways, one of them killed: no limited token is sent once more than it may be', async () => {
  const { site, calls, createToken } = world.current;
  // Fewer than the clients that name only this one
  const limits = { 'value-a': 20, 'value-b': 20, 'value-c': 10 };
  const [a = '', b = '', c = ''] = await Promise.all(
    Object.entries(limits).map(([value, max_uses]) => createToken(value, { max_uses })),
  );
  const free = await createToken('value-free');
  const kinds = [[a], [b], [a, b], [b, a, free], [free], [free], [free]];
  const uses = Array.from({ length: 200 }, (_, i) =>
    i % 10 === 9 ? use([c], i, large) : use(kinds[i % kinds.length] ?? [], i),
  );
  await eventually('some are through', () => (calls.get('value-a') ?? 0) > 5);
  await site.node('gateway-2').kill();
  const statuses = Map.groupBy(await Promise.all(uses), (status) => status);
  expect([...statuses.keys()].sort()).toEqual([200, 403]);

  const counted = await site.query<{ id: string; uses: number }>(`select id, uses from tokens where id = any($1)`, [
    [a, b, c, free],
  ]);
  const usesOf = new Map(counted.map(({ id, uses }) => [id, uses]));
  expect([usesOf.get(a), usesOf.get(b), usesOf.get(c), usesOf.get(free)]).toEqual([20, 20, 10, 0]);
  for (const [value, most] of Object.entries(limits)) {
    expect(calls.get(value)).toBeLessThanOrEqual(most);
    expect(calls.get(value)).toBeGreaterThan(0);
  }
  // The control: more calls came with what has no limit
  expect(calls.get('value-free')).toBeGreaterThan(60);
  for (const token of [a, b, c]) expect(await use([token], 0)).toBe(403);
});
