import { createServer } from 'node:http';
import { listen } from '@sluice/service-runtime';
import type { Platform } from './platform.ts';
import { type Attacked, asksGateway, attack, type Bomb, type HostileTenant } from './under-load/hostile-tenants.ts';

/** Requests of some kilobytes that grow only in the gateway: by tokens, by what transforms ask for, and by their results. */
jest.setTimeout(240_000);

const mebibyte = 2 ** 20;
/** What the manifests give a gateway. */
const memoryLimit = 1024 * mebibyte;
const transform = { code: 'module.exports = async ({ args }) => ({ body: args.body })' };
const large = 'x'.repeat(mebibyte - 100);
const tokensOfTenant = 40;

async function startDestination(stack: AsyncDisposableStack): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}'));
  });
  return `http://127.0.0.1:${await listen(server, { host: '127.0.0.1', port: 0, stack })}`;
}

const returning = (code: string) => ({ code: `module.exports = async ({ args, svc }) => { ${code} }` });
const largeResult = returning(`return { body: 'y'.repeat(${5 * mebibyte - 10}) }`);
const keeping = (call: string) =>
  returning(`const kept = await Promise.all(args.body.slice(0, 8).map((id) => ${call})); return { body: kept.length }`);

type Kind = 'results' | 'values' | 'names' | 'answers';

/** The bombs of one Tenant, by what grows. */
async function prepare(tenant: HostileTenant, { stack }: Platform, destination: string, kinds: readonly Kind[]) {
  const application = await tenant.createApplication({
    permissions: ['token:use'],
    rules: [{ priority: 1, container: '/', transform: 'reveal', permissions: ['token:read', 'token:use'] }],
  });
  const ids: string[] = [];
  const isNamed = kinds.some((kind) => kind !== 'results');
  while (isNamed && ids.length < tokensOfTenant) ids.push(await tenant.createToken({ data: large }));
  const bomb = async (transforms: object, body: unknown): Promise<Bomb> => {
    const proxy = { destination_url: destination, application: { id: application.id }, ...transforms };
    const { key } = await tenant.createProxy(proxy);
    const headers = { 'SVC-PROXY-KEY': key, 'SVC-API-KEY': application.key, 'Content-Type': 'application/json' };
    return async () => {
      const sent = { method: 'POST', headers, body: JSON.stringify(body) };
      const answer = await fetch(`${stack.serviceUrls.proxyGateway}/proxy`, sent);
      await answer.arrayBuffer();
      return answer.status;
    };
  };
  const expressions = (count: number, filter = '') => ids.slice(0, count).map((id) => `{{ ${id}${filter} }}`);
  const bombs: Record<Kind, () => Promise<Bomb[]>> = {
    results: async () => [
      await bomb({ request_transform: largeResult }, {}),
      await bomb({ response_transform: largeResult }, {}),
    ],
    values: async () => [await bomb({ request_transform: transform }, expressions(4))],
    names: async () => [await bomb({ request_transform: transform }, expressions(tokensOfTenant, ' | last4'))],
    answers: async () => [
      await bomb({ request_transform: keeping("svc.detokenize('{{' + id + '}}')") }, ids),
      await bomb(
        { response_transform: returning('await 0'), request_transform: keeping('svc.tokens.retrieve(id)') },
        ids,
      ),
    ],
  };
  return (await Promise.all(kinds.map((kind) => bombs[kind]()))).flat();
}

async function attackWith(kinds: readonly Kind[], settings: Record<string, string>): Promise<Attacked> {
  await using closing = new AsyncDisposableStack();
  const destination = await startDestination(closing);
  const attacked = await attack({
    settings,
    good: asksGateway(destination, transform),
    prepare: (tenant, platform) => prepare(tenant, platform, destination, kinds),
  });
  const { peakBytes, goodStatuses, goodP99Ms, bombStatuses } = attacked;
  console.info(
    `${kinds.join()}: peak ${Math.round(peakBytes / mebibyte)} MiB, good Tenant ${goodStatuses.length} answers, ` +
      `p99 ${goodP99Ms} ms, bombs ${JSON.stringify(bombStatuses)}`,
  );
  return attacked;
}

const all: readonly Kind[] = ['results', 'values', 'names', 'answers'];

test('bombs of every kind leave a gateway below its memory, and a fourth Tenant is answered as ever', async () => {
  const { peakBytes, goodStatuses, bombStatuses } = await attackWith(all, {
    BODY_HELD_BYTES: `${Math.floor(0.4 * memoryLimit)}`,
  });
  expect(peakBytes).toBeLessThan(memoryLimit);
  expect(new Set(goodStatuses)).toEqual(new Set([200]));
  expect(goodStatuses.length).toBeGreaterThan(20);
  // Served, refused as too much, or told to come again; never cut off.
  for (const status of Object.keys(bombStatuses)) expect(['200', '413', '500', '503']).toContain(status);
});
