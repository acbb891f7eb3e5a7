import { Interrupted } from './failure.ts';
import { keys, startService, type } from './testing/test-command-line.ts';

type Answer = Parameters<typeof startService>[1];

async function ask(answer: Answer, signal?: AbortSignal) {
  await using closing = new AsyncDisposableStack();
  const service = await startService(closing, answer);
  const env = { SLUICE_URL: service.url, SLUICE_API_KEY: keys.management };
  return await type(['proxies', 'get', 'p'], { env, ...(signal && { signal }) });
}

const problem = (status: number): Answer => {
  return () => ({
    status,
    headers: { 'retry-after': '0' },
    body: { title: 'No', status, detail: 'Why', instance: 'trace-1' },
  });
};

test('0: done', async () => {
  expect(await ask(() => ({ status: 200, body: { id: 'p' } }))).toMatchObject({ code: 0, error: '', out: 'id  p\n' });
});

test.each([
  [400, ''],
  [401, 'sluice login'],
  [403, 'Use another key'],
  [404, 'list" shows what there is'],
  [409, ''],
  [422, ''],
  [429, 'Wait a moment'],
  [500, ''],
])('1: refused with %i', async (status, advice) => {
  const { code, out, error } = await ask(problem(status));
  expect([code, out]).toEqual([1, '']);
  expect(error).toContain(`GET /proxies/{id}: Why (status ${status}, trace trace-1)\n`);
  expect(error).toContain(advice);
});

test('2: usage', async () => {
  expect((await type(['proxies', 'get'])).code).toBe(2);
});

test('3: 503 says that the service is unavailable', async () => {
  const { code, error } = await ask(problem(503));
  expect([code, error]).toEqual([3, expect.stringContaining('The service is unavailable')]);
});

test('3: no answer', async () => {
  const { code, error } = await ask((_seen, request) => void request.socket.destroy());
  expect([code, error]).toEqual([3, expect.stringMatching(/no answer \(\w+\).*\n.*sluice profiles/)]);
});

test.each([
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s while the service is asked: %i, without a word', async (name, expected) => {
  const stopping = new AbortController();
  const hanging: Answer = () => void stopping.abort(new Interrupted(name));
  expect(await ask(hanging, stopping.signal)).toMatchObject({ code: expected, out: '', error: '' });
});
