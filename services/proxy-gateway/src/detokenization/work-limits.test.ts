import { call, eventually, useStack } from '@sluice/testing';
import { shareTestGateway } from '../testing/test-gateway.ts';
import type { TestProxy } from '../testing/test-tenant.ts';
import { findExpressions } from './find-expressions.ts';

const gateway = useStack((stack) => shareTestGateway(stack));

const fiveMebibytes = (piece: string) =>
  Buffer.from(`a={{abc}}&${piece.repeat(Math.floor((5 * 2 ** 20) / piece.length))}`);

function durationOf(task: () => unknown): number {
  const startedAt = performance.now();
  task();
  return performance.now() - startedAt;
}

async function disclosuresOf({ id }: TestProxy): Promise<string> {
  const rows = await gateway.current.db.selectFrom('audit_log').select('detail').where('entity_id', '=', id).execute();
  return JSON.stringify(rows);
}

test.each(['a=&', '&', '=', 'a'])('a form of 5 MiB of %j is read at once', (piece) => {
  expect(durationOf(() => findExpressions(fiveMebibytes(piece), 'form'))).toBeLessThan(5000);
});

test.each([
  ['json', '"{{abc}}",'],
  ['form', 'a={{abc}}&'],
  ['text', '{{abc}}'],
] as const)('a %s body with over 10,000 expressions is 400', (kind, piece) => {
  expect(findExpressions(Buffer.from(piece.repeat(10_000)), kind)).toHaveLength(10_000);
  expect(() => findExpressions(Buffer.from(piece.repeat(10_001)), kind)).toThrow(
    expect.objectContaining({ code: 'bad_request' }),
  );
});

test('expressions are counted over all strings of a body', () => {
  const string = JSON.stringify('{{abc}}'.repeat(1000));
  const body = (strings: number) => Buffer.from(`[${Array(strings).fill(string).join(',')}]`);
  expect(findExpressions(body(10), 'json')).toHaveLength(10);
  expect(() => findExpressions(body(11), 'json')).toThrow(expect.objectContaining({ code: 'bad_request' }));
});

test('filters that go through a large value again and again soon give nothing; it is a disclosure all the same', async () => {
  const { tenant, destination, url } = gateway.current;
  const application = await tenant.application();
  const proxy = await tenant.proxy({ destination: destination.url });
  const large = await tenant.token({ data: 'x'.repeat(1_000_000) });
  const body = { a: Array(1000).fill(`{{ ${large} | reveal_last: 4 | last4 }}`) };
  const headers = { 'SVC-PROXY-KEY': proxy.key };
  const startedAt = performance.now();
  const answer = await call(url, 'POST', '/proxy', { key: application.key, headers, body });
  expect(answer.status).toBe(200);
  expect(performance.now() - startedAt).toBeLessThan(20_000);
  const { a } = JSON.parse(destination.seen.at(-1)?.body ?? '');
  expect([a[0], a.at(-1), a.length]).toEqual(['xxxx', null, 1000]);
  await eventually('the disclosure', async () => (await disclosuresOf(proxy)).includes(large));
});

test('what a filter that fails leaves of a value tells the destination something of it, so it is a disclosure', async () => {
  const { tenant, destination, url } = gateway.current;
  const application = await tenant.application();
  const proxy = await tenant.proxy({ destination: destination.url });
  const token = await tenant.token({ data: 'x23' });
  const options = { key: application.key, headers: { 'SVC-PROXY-KEY': proxy.key } };
  const body = { a: `{{ ${token} | slice: 0, 1 | to_number }}` };
  expect((await call(url, 'POST', '/proxy', { ...options, body })).status).toBe(200);
  await eventually('the disclosure', async () => (await disclosuresOf(proxy)).includes(token));
});
