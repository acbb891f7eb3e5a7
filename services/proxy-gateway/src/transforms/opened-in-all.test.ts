import { call, slow, useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => startTestGateway(stack, { TRANSFORM_CPU_MS: '12000' }));

async function outcomes(calls: string[]): Promise<unknown[]> {
  const { tenant, destination, url } = gateway.current;
  const reveal = {
    priority: 1,
    container: '/',
    transform: 'reveal' as const,
    permissions: ['token:read', 'token:use'],
  };
  const application = await tenant.application({ permissions: [], rules: [reveal] });
  const token = await tenant.token({ data: 'x'.repeat(2 ** 20 - 100) });
  const small = await tenant.token({ data: 'v' });
  const requestTransform = `module.exports = async ({ svc }) => {
    const ended = async (call) => { try { await call(); return 'ok' } catch (error) { return error.status } };
    const [token, small] = ${JSON.stringify([token, small])};
    const ends = [];
    ${calls.map((code) => `ends.push(await ended(async () => (${code})));`).join('\n')}
    return { body: { ends } };
  }`;
  const proxy = await tenant.proxy({
    ...{ destination: destination.url, requireAuth: false, requestTransform },
    applicationId: application.id,
  });
  const answer = await call(url, 'POST', '/proxy', { headers: { 'SVC-PROXY-KEY': proxy.key }, body: '{}' });
  expect(answer.status).toBe(200);
  return JSON.parse(destination.seen.at(-1)?.body ?? '').ends;
}

const detokenize = "svc.detokenize('{{' + token + '}}')";
const retrieve = 'svc.tokens.retrieve(token)';
const ok = (count: number) => Array(count).fill('ok');

slow('2.3 s').each([
  ['detokenized', Array(10).fill(detokenize)],
  ['retrieved', Array(10).fill(retrieve)],
  ['both', [...Array(4).fill(detokenize), ...Array(6).fill(retrieve)]],
])('what is %s in all calls of an invocation is at most 8 MiB', async (_, calls) => {
  expect(await outcomes(calls)).toEqual([...ok(8), 413, 413]);
});

slow('2.7 s')('the control: small tokens have no such end, and calls that fail take nothing of it', async () => {
  expect(await outcomes(Array(20).fill("svc.detokenize('{{' + small + '}}')"))).toEqual(ok(20));
  const failing = "svc.detokenize(['{{' + token + '}}', '{{nobody}}'])";
  expect(await outcomes([...Array(3).fill(failing), ...Array(8).fill(detokenize)])).toEqual([400, 400, 400, ...ok(8)]);
});
