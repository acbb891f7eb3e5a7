import { call, slow, useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => startTestGateway(stack, { SERVER_TIMING: 'on' }));

async function timingOf(path: string, parts: { requestTransform?: string } = {}): Promise<string[]> {
  const { tenant, destination, url } = gateway.current;
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false, ...parts });
  const answer = await call(url, 'POST', path, { body: {}, headers: { 'SVC-PROXY-KEY': proxy.key } });
  const entries = (answer.headers.get('server-timing') ?? '').split(', ');
  for (const entry of entries) expect(entry).toMatch(/^[a-z]+;dur=\d+\.\d\d$/);
  return entries.map((entry) => entry.split(';')[0] ?? '');
}

test('answers say how long each stage took, where the setting asks for it', async () => {
  expect(await timingOf('/proxy')).toEqual(['authenticate', 'detokenize', 'destination', 'total']);
  const requestTransform = 'module.exports = async () => ({})';
  expect(await timingOf('/proxy', { requestTransform })).toEqual([
    'authenticate',
    'detokenize',
    'transform',
    'destination',
    'total',
  ]);
});

test('so do failures, up to where they happened', async () => {
  const requestTransform = 'module.exports = async () => { throw new Error() }';
  expect(await timingOf('/proxy', { requestTransform })).toEqual(['authenticate', 'detokenize', 'transform', 'total']);
});

slow('0.5 s')('otherwise they do not', async () => {
  await using stack = new AsyncDisposableStack();
  const { url } = await startTestGateway(stack);
  expect((await call(url, 'GET', '/proxy')).headers.has('server-timing')).toBe(false);
});
