import { gzipSync } from 'node:zlib';
import { serveHttp } from '@sluice/testing';
import {
  type Attacked,
  asksGateway,
  attack,
  expectOthersServed,
  mebibyte,
  passing,
  statusOf,
} from './under-load/hostile-tenants.ts';

jest.setTimeout(240_000);

/** What the manifests give a gateway, in MiB. */
const memoryLimit = 1024;

const most = 5 * mebibyte;
const bodies = [
  { type: 'application/json', body: gzipSync(JSON.stringify('x'.repeat(most - 2))) },
  { type: 'application/json', body: gzipSync(`[${'0,'.repeat(most / 2 - 2)}0]`) },
  { type: 'application/x-www-form-urlencoded', body: gzipSync('=&'.repeat(most / 2)) },
];
const answerBomb = gzipSync(JSON.stringify('y'.repeat(most - 2)));

async function attackWithBodies(settings: Record<string, string>): Promise<Attacked> {
  await using closing = new AsyncDisposableStack();
  // Answers a GET with 5 MiB in a few bytes, anything else with `{}`.
  const destination = await serveHttp(closing, (request, response) => {
    request.resume();
    const isBomb = request.method === 'GET';
    response.writeHead(200, { 'Content-Type': 'application/json', ...(isBomb && { 'Content-Encoding': 'gzip' }) });
    request.on('end', () => response.end(isBomb ? answerBomb : '{}'));
  });
  return await attack({
    settings,
    good: asksGateway(destination),
    async prepare({ createProxy }, { stack }) {
      const both = { request_transform: passing, response_transform: passing };
      const key = { 'SVC-PROXY-KEY': (await createProxy({ destination_url: destination, ...both })).key };
      const url = `${stack.serviceUrls.proxyGateway}/proxy`;
      const sent = bodies.map(({ type, body }) => () => {
        const headers = { ...key, 'Content-Type': type, 'Content-Encoding': 'gzip' };
        return statusOf(url, { method: 'POST', headers, body: new Uint8Array(body) });
      });
      return [...sent, () => statusOf(url, { headers: key })];
    },
  });
}

test('bombs of three Tenants leave a gateway below its memory, and a fourth Tenant is answered as ever', async () => {
  const attacked = await attackWithBodies({ BODY_HELD_BYTES: `${Math.floor(0.4 * memoryLimit * mebibyte)}` });
  expect(attacked.gatewayPeak).toBeLessThan(memoryLimit);
  // Served, refused as too much for the sandbox, or told to come again
  expectOthersServed(attacked, [200, 400, 500, 502, 503]);
});

test('the control: without that bound the same bombs take more', async () => {
  const { gatewayPeak } = await attackWithBodies({ BODY_HELD_BYTES: `${64 * memoryLimit * mebibyte}` });
  expect(gatewayPeak).toBeGreaterThan(memoryLimit);
});
