import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { listen } from '@sluice/service-runtime';
import type { Platform } from './platform.ts';
import { type Attacked, asksGateway, attack, type Bomb, type HostileTenant } from './under-load/hostile-tenants.ts';

jest.setTimeout(240_000);

const mebibyte = 2 ** 20;
/** What the manifests give a gateway. */
const memoryLimit = 1024 * mebibyte;

const most = 5 * mebibyte;
const bombs = {
  text: { type: 'application/json', body: gzipSync(JSON.stringify('x'.repeat(most - 2))) },
  list: { type: 'application/json', body: gzipSync(`[${'0,'.repeat(most / 2 - 2)}0]`) },
  form: { type: 'application/x-www-form-urlencoded', body: gzipSync('=&'.repeat(most / 2)) },
};
const answerBomb = gzipSync(JSON.stringify('y'.repeat(most - 2)));
const transform = { code: 'module.exports = async ({ args }) => ({ body: args.body })' };

/** Answers a GET with 5 MiB in a few bytes, anything else with `{}`. */
async function startDestination(stack: AsyncDisposableStack): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    const isBomb = request.method === 'GET';
    response.writeHead(200, { 'Content-Type': 'application/json', ...(isBomb && { 'Content-Encoding': 'gzip' }) });
    request.on('end', () => response.end(isBomb ? answerBomb : '{}'));
  });
  return `http://127.0.0.1:${await listen(server, { host: '127.0.0.1', port: 0, stack })}`;
}

async function attackWithBodies(settings: Record<string, string>): Promise<Attacked> {
  await using closing = new AsyncDisposableStack();
  const destination = await startDestination(closing);
  const prepare = async (tenant: HostileTenant, { stack: { serviceUrls } }: Platform): Promise<Bomb[]> => {
    const both = { request_transform: transform, response_transform: transform };
    const { key } = await tenant.createProxy({ destination_url: destination, ...both });
    return [...Object.values(bombs), undefined].map((bomb) => async () => {
      const headers = {
        'SVC-PROXY-KEY': key,
        ...(bomb && { 'Content-Type': bomb.type, 'Content-Encoding': 'gzip' }),
      };
      const sent = bomb && { method: 'POST', body: new Uint8Array(bomb.body) };
      const answer = await fetch(`${serviceUrls.proxyGateway}/proxy`, { headers, ...sent });
      await answer.arrayBuffer();
      return answer.status;
    });
  };
  return await attack({ settings, prepare, good: asksGateway(destination, transform) });
}

test('bombs of three Tenants leave a gateway below its memory, and a fourth Tenant is answered as ever', async () => {
  const { peakBytes, goodStatuses, bombStatuses } = await attackWithBodies({
    BODY_HELD_BYTES: `${Math.floor(0.4 * memoryLimit)}`,
  });
  expect(peakBytes).toBeLessThan(memoryLimit);
  expect(new Set(goodStatuses)).toEqual(new Set([200]));
  expect(goodStatuses.length).toBeGreaterThan(20);
  // Served, refused as too much for the sandbox, or told to come again; never cut off.
  for (const status of Object.keys(bombStatuses)) expect(['200', '400', '500', '502', '503']).toContain(status);
});

test('the control: without that bound the same bombs take more', async () => {
  const { peakBytes } = await attackWithBodies({ BODY_HELD_BYTES: `${64 * memoryLimit}` });
  expect(peakBytes).toBeGreaterThan(memoryLimit);
});
