import { serveHttp } from '@sluice/testing';
import type { Platform } from './platform.ts';
import {
  type Ask,
  asksGateway,
  attack,
  expectOthersServed,
  type HostileTenant,
  largeText,
  mebibyte,
  passing,
  statusOf,
} from './under-load/hostile-tenants.ts';

/** Requests of some kilobytes that grow only in the gateway: by tokens, by what transforms ask for, and by their results. */
jest.setTimeout(240_000);

/** What the manifests give a gateway, in MiB. */
const memoryLimit = 1024;
const tokensOfTenant = 40;

const returning = (code: string) => ({ code: `module.exports = async ({ args, svc }) => { ${code} }` });
const largeResult = returning(`return { body: 'y'.repeat(${5 * mebibyte - 10}) }`);
const keeping = (call: string) =>
  returning(`const kept = await Promise.all(args.body.slice(0, 8).map((id) => ${call})); return { body: kept.length }`);

/** The bombs of one Tenant. */
async function prepare(tenant: HostileTenant, { stack }: Platform, destination: string): Promise<Ask[]> {
  const application = await tenant.createApplication({
    permissions: ['token:use'],
    rules: [{ priority: 1, container: '/', transform: 'reveal', permissions: ['token:read', 'token:use'] }],
  });
  const ids: string[] = [];
  while (ids.length < tokensOfTenant) ids.push(await tenant.createToken({ data: largeText }));
  const bomb = async (transforms: object, body: unknown): Promise<Ask> => {
    const proxy = { destination_url: destination, application: { id: application.id }, ...transforms };
    const { key } = await tenant.createProxy(proxy);
    const headers = { 'SVC-PROXY-KEY': key, 'SVC-API-KEY': application.key, 'Content-Type': 'application/json' };
    const sent = { method: 'POST', headers, body: JSON.stringify(body) };
    return () => statusOf(`${stack.serviceUrls.proxyGateway}/proxy`, sent);
  };
  const values = ids.slice(0, 4).map((id) => `{{ ${id} }}`);
  const names = ids.map((id) => `{{ ${id} | last4 }}`);
  const retrieving = keeping('svc.tokens.retrieve(id)');
  return [
    await bomb({ request_transform: largeResult }, {}),
    await bomb({ response_transform: largeResult }, {}),
    await bomb({ request_transform: passing }, values),
    await bomb({ request_transform: passing }, names),
    await bomb({ request_transform: keeping("svc.detokenize('{{' + id + '}}')") }, ids),
    await bomb({ response_transform: returning('await 0'), request_transform: retrieving }, ids),
  ];
}

test('bombs of every kind leave a gateway below its memory, and a fourth Tenant is answered as ever', async () => {
  await using closing = new AsyncDisposableStack();
  const destination = await serveHttp(closing, (request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}'));
  });
  const attacked = await attack({
    settings: { BODY_HELD_BYTES: `${Math.floor(0.4 * memoryLimit * mebibyte)}` },
    good: asksGateway(destination),
    prepare: (tenant, platform) => prepare(tenant, platform, destination),
  });
  expect(attacked.gatewayPeak).toBeLessThan(memoryLimit);
  // Served, refused as too much, or told to come again
  expectOthersServed(attacked, [200, 413, 500, 503]);
});
