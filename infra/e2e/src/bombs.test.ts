import { gzipSync } from 'node:zlib';
import { serveHttp } from '@sluice/testing';
import type { Platform, TenantClient } from './platform.ts';
import {
  type Ask,
  type Attacked,
  asksGateway,
  attack,
  expectOthersServed,
  largeText,
  mebibyte,
  passing,
  statusOf,
} from './under-load/hostile-tenants.ts';

/** Memory of a gateway, in MiB. Lower than in the manifests, so that few bombs exceed it if nothing limits them. */
const memoryLimit = 768;
/** Time for a transform and its wait for a thread: on a busy machine each transform before it takes seconds. */
const patient = { TRANSFORM_WALL_MS: '60000' };
// Bombs that wait are refused sooner than by default, so that the test ends sooner.
const bounded = { ...patient, BODY_HELD_BYTES: `${Math.floor(0.4 * memoryLimit * mebibyte)}`, BODY_WAIT_MS: '5000' };

const most = 5 * mebibyte;
const bodies = [
  { type: 'application/json', body: gzipSync(JSON.stringify('x'.repeat(most - 2))) },
  { type: 'application/json', body: gzipSync(`[${'0,'.repeat(most / 2 - 2)}0]`) },
  { type: 'application/x-www-form-urlencoded', body: gzipSync('=&'.repeat(most / 2)) },
];
const answerBomb = gzipSync(JSON.stringify('y'.repeat(most - 2)));

type Prepare = (tenant: TenantClient, gateway: string, destination: string) => Promise<Ask[]>;

async function attackGateway(settings: Record<string, string>, prepare: Prepare, enough = Infinity): Promise<Attacked> {
  await using closing = new AsyncDisposableStack();
  // Answers a GET with 5 MiB in a few bytes, anything else with `{}`.
  const destination = await serveHttp(closing, (request, response) => {
    request.resume();
    const isBomb = request.method === 'GET';
    response.writeHead(200, { 'Content-Type': 'application/json', ...(isBomb && { 'Content-Encoding': 'gzip' }) });
    request.on('end', () => response.end(isBomb ? answerBomb : '{}'));
  });
  const prepareAll = (tenant: TenantClient, { stack }: Platform) =>
    prepare(tenant, `${stack.serviceUrls.proxyGateway}/proxy`, destination);
  return await attack({ settings, good: asksGateway(destination), prepare: prepareAll, enough });
}

/** Bodies that grow when they are decoded. */
const packed: Prepare = async ({ createProxy }, gateway, destination_url) => {
  const both = { request_transform: passing, response_transform: passing, require_auth: false };
  const key = { 'SVC-PROXY-KEY': (await createProxy({ destination_url, ...both })).key };
  const sent = bodies.map(({ type, body }) => () => {
    const headers = { ...key, 'Content-Type': type, 'Content-Encoding': 'gzip' };
    return statusOf(gateway, { method: 'POST', headers, body: new Uint8Array(body) });
  });
  return [...sent, () => statusOf(gateway, { headers: key })];
};

test('bombs of three Tenants leave a gateway below its memory, and a fourth Tenant is answered as ever', async () => {
  const attacked = await attackGateway(bounded, packed);
  expect(attacked.gatewayPeak).toBeLessThan(memoryLimit);
  // Served, refused as too much for the sandbox, or told to come again
  expectOthersServed(attacked, [200, 400, 500, 502, 503]);
});

test('the control: without that bound the same bombs take more', async () => {
  const unbounded = { ...patient, BODY_HELD_BYTES: `${64 * memoryLimit * mebibyte}` };
  const { gatewayPeak } = await attackGateway(unbounded, packed, memoryLimit);
  expect(gatewayPeak).toBeGreaterThan(memoryLimit);
});

const returning = (code: string) => ({ code: `module.exports = async ({ args, svc }) => { ${code} }` });
const largeResult = returning(`return { body: 'y'.repeat(${5 * mebibyte - 10}) }`);
const keeping = (call: string) =>
  returning(`const kept = await Promise.all(args.body.slice(0, 8).map((id) => ${call})); return { body: kept.length }`);

/** Requests of some kilobytes that grow only in the gateway: by tokens, by what transforms ask for, and by their results. */
const growing: Prepare = async (tenant, gateway, destination_url) => {
  const application = await tenant.createApplication({
    permissions: ['token:create', 'token:use'],
    rules: [
      { priority: 1, container: '/', transform: 'reveal', permissions: ['token:read', 'token:update', 'token:use'] },
    ],
  });
  const { id, key } = application;
  const ids: string[] = [];
  while (ids.length < 40) {
    ids.push((await tenant.call('POST', '/tokens', { key, body: { data: largeText } })).body.id);
  }
  const bomb = async (transforms: object, body: unknown): Promise<Ask> => {
    const proxy = await tenant.createProxy({ destination_url, application: { id }, ...transforms });
    const headers = { 'SVC-PROXY-KEY': proxy.key, 'SVC-API-KEY': key, 'Content-Type': 'application/json' };
    return () => statusOf(gateway, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  const values = ids.slice(0, 4).map((one) => `{{ ${one} }}`);
  const names = ids.map((one) => `{{ ${one} | last4 }}`);
  const retrieving = keeping('svc.tokens.retrieve(id)');
  const updating = keeping("svc.tokens.update(id, { metadata: { n: '1' } })");
  return [
    await bomb({ request_transform: largeResult }, {}),
    await bomb({ response_transform: largeResult }, {}),
    await bomb({ request_transform: passing }, values),
    await bomb({ request_transform: passing }, names),
    await bomb({ request_transform: keeping("svc.detokenize('{{' + id + '}}')") }, ids),
    await bomb({ response_transform: returning('await 0'), request_transform: retrieving }, ids),
    await bomb({ request_transform: updating }, ids),
  ];
};

test('bombs of every kind leave a gateway below its memory, and a fourth Tenant is answered as ever', async () => {
  const attacked = await attackGateway(bounded, growing);
  expect(attacked.gatewayPeak).toBeLessThan(memoryLimit);
  // Served, refused as too much, or told to come again
  expectOthersServed(attacked, [200, 413, 500, 503]);
});
