import { type PoolerOptions, slow, startTransactionPooler, useStack } from '@sluice/testing';
import { everything, startTestTokenVault } from './testing/test-token-vault.ts';

async function startBehindPooler(stack: AsyncDisposableStack, options: PoolerOptions) {
  return startTestTokenVault(stack, (url) => startTransactionPooler(url, options, stack));
}

const vault = useStack((stack) => startBehindPooler(stack, { keepsStatements: true, order: 'oldest' }));

const card = { type: 'card', data: { number: '4242424242424242' } };

slow('1.1 s')(
  'behind a pooler of transactions tokens are created, read, found, changed and deleted, many at once',
  async () => {
    const { createKey, send } = vault.current;
    const key = await createKey({ permissions: everything });
    const each = async (index: number) => {
      const { body: token, status } = await send('POST', '/tokens', {
        key,
        body: { ...card, metadata: { n: `${index}` } },
      });
      const read = await send('GET', `/tokens/${token.id}`, { key });
      const found = await send('POST', '/tokens/search', { key, body: { query: `metadata.n:${index}` } });
      const headers = { 'Content-Type': 'application/merge-patch+json' };
      const patched = await send('PATCH', `/tokens/${token.id}`, { key, headers, body: { metadata: { n: 'x' } } });
      const deleted = await send('DELETE', `/tokens/${token.id}`, { key });
      return [status, read.status, found.body.data?.length, patched.status, deleted.status];
    };
    for (let round = 0; round < 5; round++) {
      const outcomes = await Promise.all(Array.from({ length: 6 }, (_, index) => each(round * 6 + index)));
      expect(outcomes).toEqual(Array(6).fill([201, 200, 1, 200, 204]));
    }
  },
);

test('behind one that loses named statements requests fail, which is why the service is not ready there', async () => {
  await using stack = new AsyncDisposableStack();
  const { createKey, send } = await startBehindPooler(stack, { keepsStatements: false, order: 'oldest' });
  const key = await createKey({ permissions: everything });
  const statuses: number[] = [];
  for (let i = 0; i < 20; i++) statuses.push((await send('POST', '/tokens', { key, body: card })).status);
  expect(statuses.filter((status) => status >= 500).length).toBeGreaterThan(0);
});
