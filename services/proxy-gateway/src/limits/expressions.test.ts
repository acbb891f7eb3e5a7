import { call, slow, useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => startTestGateway(stack, { BODY_MAX_EXPRESSIONS: '1000' }));

const detokenizing = (calls: number, each: number, token: string) => `module.exports = async ({ svc }) => {
  const text = '{{ ${token} }}'.repeat(${each});
  const settled = await Promise.allSettled(Array.from({ length: ${calls} }, () => svc.detokenize(text)));
  return { body: settled.map(({ status, reason }) => reason?.status ?? status) } }`;

async function scene(code: (token: string) => string) {
  const { tenant, destination, url } = gateway.current;
  const token = await tenant.token({ data: 'v' });
  const { id: applicationId, key } = await tenant.application();
  const proxy = await tenant.proxy({ destination: destination.url, applicationId, requestTransform: code(token) });
  const invoke = (body: string) => call(url, 'POST', '/proxy', { key, headers: { 'SVC-PROXY-KEY': proxy.key }, body });
  return { token, invoke };
}

const settled = () => JSON.parse(gateway.current.destination.seen.at(-1)?.body ?? 'null');

test('a body and its transforms have so many expressions together', async () => {
  const { token, invoke } = await scene((id) => detokenizing(5, 200, id));
  expect((await invoke('{}')).status).toBe(200);
  expect(settled()).toEqual(Array(5).fill('fulfilled'));
  const body = JSON.stringify(`{{ ${token} }}`.repeat(200));
  expect((await invoke(body)).status).toBe(200);
  expect(settled()).toEqual([...Array(4).fill('fulfilled'), 400]);
  expect((await invoke(JSON.stringify(`{{ ${token} }}`.repeat(1001)))).status).toBe(400);
});

slow('0.6 s')('another Tenant is answered before a flood of expressions is', async () => {
  const { destination, stranger, url } = gateway.current;
  const { invoke } = await scene(
    (id) => `module.exports = async ({ svc }) => {
    const texts = Array.from({ length: 100 }, (_, at) => ('{{ ${id} | append: "' + at + '" }}').repeat(100));
    const settled = await Promise.allSettled(Array.from({ length: 50 }, () => svc.detokenize(texts)));
    return { body: settled.length } }`,
  );
  const other = await stranger.proxy({ destination: destination.url, requireAuth: false });
  await invoke('{}');
  const order: string[] = [];
  const flood = invoke('{}').then(() => order.push('flood'));
  await call(url, 'POST', '/proxy', { headers: { 'SVC-PROXY-KEY': other.key }, body: '{}' });
  order.push('other');
  await flood;
  expect(order).toEqual(['other', 'flood']);
});
