import { keys, startService, type } from '../testing/test-command-line.ts';

const answer = { allowed: true, transform: 'mask', decided_by: { rule: 0 }, reason: 'rules[0] decides\u001b[2J' };

async function explain(words: string[], isTerminal: boolean) {
  await using closing = new AsyncDisposableStack();
  const { url, seen } = await startService(closing, () => ({ status: 200, body: answer }));
  const env = { SLUICE_URL: url, SLUICE_API_KEY: keys.management };
  const printed = await type(['explain', ...words], { env, isTerminal });
  return { ...printed, asked: seen.map(({ method, url, body }) => [`${method} ${url}`, JSON.parse(body)]) };
}

test('asks for the operation, and is a sentence for people, with control characters escaped', async () => {
  const { code, out, asked } = await explain(['5b0c9a3e-2f64-4d0a-8a57-1d1f4c3b9e20', 'tok_1', 'use'], true);
  expect([code, out]).toEqual([0, 'Allowed, mask. rules[0] decides\\u001b[2J\n']);
  expect(asked).toEqual([
    ['POST /applications/5b0c9a3e-2f64-4d0a-8a57-1d1f4c3b9e20/explain', { token_id: 'tok_1', operation: 'token:use' }],
  ]);
});

test('programs get the answer as JSON; without an operation it is reading', async () => {
  const { out, asked } = await explain(['5b0c9a3e-2f64-4d0a-8a57-1d1f4c3b9e20', 'tok_1'], false);
  expect(JSON.parse(out)).toEqual(answer);
  expect(asked).toEqual([[expect.any(String), { token_id: 'tok_1', operation: 'token:read' }]]);
});

test('an operation that there is not is told, and nothing is asked', async () => {
  const { code, error, asked } = await explain(['a', 'b', 'reveal'], false);
  expect([code, asked]).toEqual([2, []]);
  expect(error).toContain('OPERATION must be one of create, read');
});
