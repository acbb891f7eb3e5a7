import { keys, startService, type } from '../testing/test-command-line.ts';

const row = (n: number) => ({
  id: `row-${n}`,
  tenant_id: 't',
  entity_type: 'token',
  entity_id: `token-${n}`,
  operation: 'create',
  message: 'Token created',
  created_at: `2026-03-02T09:30:0${n}.000Z`,
});

test('shows the last rows and those that come, and none that was there before', async () => {
  await using closing = new AsyncDisposableStack();
  let reads = 0;
  const { url } = await startService(closing, () => {
    reads++;
    const all = [row(3), row(2), row(1)];
    if (reads === 1) return { status: 200, body: { pagination: { page_size: 1 }, data: all.slice(0, 1) } };
    if (reads === 2) return { status: 200, body: { pagination: { page_size: 100 }, data: all } };
    if (reads === 3) return { status: 200, body: { pagination: { page_size: 100 }, data: [row(4), ...all] } };
    return { status: 403, body: {} };
  });
  const env = { SLUICE_URL: url, SLUICE_API_KEY: keys.management };
  const { out } = await type(['logs', 'tail', '--last', '1'], { env, isTerminal: true });
  expect(out.match(/token-\d/g)).toEqual(['token-3', 'token-4']);
});
