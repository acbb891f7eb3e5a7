import { call, eventually, startDestination, useStack } from '@sluice/testing';
import { sharePlatform } from './platform.ts';

const world = useStack(async (closing) => {
  const platform = await sharePlatform();
  const { key, id } = await platform.createApplication({ permissions: ['token:use'] });
  const destination = await startDestination(closing);
  const ask = async (pathName: string) =>
    (await call(platform.stack.baseUrl, 'GET', `/routes/${pathName}`, { key })).status;
  return { platform, destination, ask, agent: id };
});

/** Each sets a name that the gateway has just been asked for. */
const settings: [string, (pathName: string) => Promise<{ status: number }>][] = [
  ['a create', (path_name) => send('POST', '/proxies', { path_name })],
  ['a PATCH', async (path_name) => send('PATCH', `/proxies/${await newProxy()}`, { path_name })],
  ['a PUT', async (path_name) => send('PUT', `/proxies/${await newProxy()}`, { path_name })],
  [
    'the restoring of a version',
    async (path_name) => {
      const id = await newProxy({ path_name });
      await send('PATCH', `/proxies/${id}`, { path_name: null });
      expect(await world.current.ask(path_name)).toBe(404);
      const { body } = await world.current.platform.manage('GET', `/proxies/${id}/versions`);
      const [first] = (body as { data: { version: number }[] }).data.slice(-1);
      return send('POST', `/proxies/${id}/versions/${first?.version}/restore`);
    },
  ],
];

function send(method: string, path: string, members: object = {}) {
  const { platform, destination } = world.current;
  const isPartial = method === 'PATCH' || path.endsWith('/restore');
  const body = { ...(!isPartial && { name: 'P', destination_url: destination.url }), ...members };
  const headers = method === 'PATCH' ? { 'Content-Type': 'application/merge-patch+json' } : {};
  return platform.manage(method, path, path.endsWith('/restore') ? undefined : body, headers);
}

async function newProxy(members: object = {}): Promise<string> {
  const { platform, destination } = world.current;
  return (await platform.createProxy({ destination_url: destination.url, ...members })).id;
}

test.each(settings)('a name that %s sets is found at once, although it was asked for before', async (_, set) => {
  const { ask } = world.current;
  const pathName = `later-${settings.findIndex(([, each]) => each === set)}`;
  const before = [await ask(pathName), await ask(pathName)];
  expect((await set(pathName)).status).toBeLessThan(300);
  expect([...before, await ask(pathName)]).toEqual([404, 404, 200]);
});

test('the log shows by actor_id all that an agent did, by the names of routes', async () => {
  const { platform, ask, agent } = world.current;
  await newProxy({ path_name: 'logged' });
  for (let i = 0; i < 3; i++) expect(await ask('logged')).toBe(200);
  const list = async () => {
    const { body } = await platform.manage('GET', `/logs?actor_id=${agent}&size=100`);
    const { data } = body as { data: { detail: { path_name?: string; token_ids: string[] } }[] };
    return data.map(({ detail }) => detail).filter(({ path_name }) => path_name === 'logged');
  };
  await eventually('three rows', async () => (await list()).length === 3);
  expect(await list()).toEqual(Array(3).fill(expect.objectContaining({ token_ids: [], method: 'GET' })));
});
