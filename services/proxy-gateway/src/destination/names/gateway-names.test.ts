import { useStack } from '@sluice/testing';
import { startDnsServer } from '../../testing/start-dns-server.ts';
import { startTestGateway } from '../../testing/test-gateway.ts';
import type { TestTenant } from '../../testing/test-tenant.ts';

const scene = useStack(async (stack) => {
  const dns = await startDnsServer(stack);
  const gateway = await startTestGateway(stack, { DESTINATION_NAME_SERVERS: dns.server });
  gateway.destination.answer = (_request, response) => {
    response.writeHead(200, { Connection: 'close' }).end('{"ok":true}');
  };
  return { dns, gateway, port: new URL(gateway.destination.url).port };
});

const loopback = { addresses: ['127.0.0.1'], ttl: 0 };

async function invoker(tenant: TestTenant, name: string) {
  const { gateway, port } = scene.current;
  const proxy = await tenant.proxy({ destination: `http://${name}:${port}`, requireAuth: false });
  return async () => {
    const answer = await fetch(`${gateway.url}/proxy`, { headers: { 'SVC-PROXY-KEY': proxy.key } });
    const { proxy_error: error } = (await answer.json()) as { proxy_error?: { detail: string } };
    return { status: answer.status, detail: error?.detail };
  };
}

test('eight invocations of names that are never answered delay no other Tenant', async () => {
  const { dns, gateway } = scene.current;
  const names = Array.from({ length: 8 }, (_, i) => `silent-${i}.example.test`);
  await dns.setZone({ ...Object.fromEntries(names.map((name) => [name, 'silent'])), 'good.example.test': loopback });
  const good = await invoker(gateway.stranger, 'good.example.test');
  const attacks = await Promise.all(names.map((name) => invoker(gateway.tenant, name)));
  let over = 0;
  const attacked = attacks.map((attack) => attack().finally(() => over++));
  while (dns.asked.filter((query) => query.includes('silent')).length < 8) await new Promise(setImmediate);
  for (let i = 0; i < 5; i++) expect((await good()).status).toBe(200);
  expect(over).toBe(0);
  for (const { status } of await Promise.all(attacked)) expect([502, 504]).toContain(status);
});

test('a name that moves to a forbidden address is refused at the next connection, and moves back', async () => {
  const { dns, gateway } = scene.current;
  const call = await invoker(gateway.tenant, 'moves.example.test');
  const answered = async (addresses: string[]) => {
    await dns.setZone({ 'moves.example.test': { addresses, ttl: 0 } });
    await new Promise((resolve) => setTimeout(resolve, 1100)); // the shortest time that an answer is remembered
    return call();
  };
  expect((await answered(['127.0.0.1'])).status).toBe(200);
  const seen = gateway.destination.seen.length;
  for (const addresses of [['169.254.169.254'], ['127.0.0.1', '10.0.0.1'], ['127.0.0.1', '64:ff9b::a9fe:a9fe']]) {
    const { status, detail } = await answered(addresses);
    expect([status, detail]).toEqual([502, 'The destination could not be reached']);
  }
  expect(gateway.destination.seen.length).toBe(seen);
  expect((await answered(['127.0.0.1'])).status).toBe(200);
});

test('a name that is not found is told from one for which nobody answers', async () => {
  const { dns, gateway } = scene.current;
  await dns.setZone({ 'broken.example.test': 'fails' });
  const details = [];
  for (const name of ['absent.example.test', 'broken.example.test']) {
    const { status, detail } = await (await invoker(gateway.tenant, name))();
    details.push([status, detail]);
  }
  expect(details).toEqual([
    [502, 'The name of the destination was not found'],
    [502, 'The name of the destination could not be looked up; try again'],
  ]);
});
