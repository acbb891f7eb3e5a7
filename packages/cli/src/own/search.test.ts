import { keys, startService, type } from '../testing/test-command-line.ts';

const answer = {
  data: [
    { kind: 'application', id: '5b0c9a3e-2f64-4d0a-8a57-1d1f4c3b9e20', name: 'Payments\u001b[2J' },
    { kind: 'member', id: '6f1d3b5a-8c72-4e09-b3a4-2d5e7f90a1b8' },
  ],
};

async function search(words: string[], isTerminal: boolean, body: object = answer) {
  await using closing = new AsyncDisposableStack();
  const { url, seen } = await startService(closing, () => ({ status: 200, body }));
  const env = { SLUICE_URL: url, SLUICE_API_KEY: keys.management };
  const printed = await type(['search', ...words], { env, isTerminal });
  return { ...printed, asked: seen.map(({ method, url }) => `${method} ${url}`) };
}

test('people get a table, with control characters escaped', async () => {
  const { code, out, asked } = await search(['a & b'], true);
  expect([code, asked]).toEqual([0, ['GET /search?q=a+%26+b']]);
  const lines = out.trim().split('\n');
  expect(lines[0]).toMatch(/^ID +NAME +KIND$/);
  expect(lines[1]).toMatch(/^5b0c9a3e-\S+ +Payments\\u001b\[2J +application$/);
  expect(lines[2]).toMatch(/^6f1d3b5a-\S+ +member$/);
});

test('programs get the answer as JSON', async () => {
  expect(JSON.parse((await search(['payments'], false)).out)).toEqual(answer);
  expect(JSON.parse((await search(['payments', '--json'], true)).out)).toEqual(answer);
});

test('nothing found is told', async () => {
  const { code, error } = await search(['payments'], true, { data: [] });
  expect([code, error]).toEqual([0, 'None.\n']);
});

test('without a text nothing is asked', async () => {
  const { code, asked } = await search([], false);
  expect([code, asked]).toEqual([2, []]);
});
