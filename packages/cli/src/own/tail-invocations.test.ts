import { keys, startService, type } from '../testing/test-command-line.ts';

const invocation = {
  trace_id: 't-1',
  at: '2026-03-02T09:30:00.000Z',
  proxy_id: 'p',
  method: 'POST',
  status: 403,
  refused_by: 'forbidden\u001b[2J',
  stages_ms: { total: 3.2 },
  token_ids: [],
};
const event = (id: string) => `id: ${id}\nevent: invocation\ndata: ${JSON.stringify(invocation)}\n\n`;
const skipped = 'event: skipped\ndata: {"skipped":3}\n\n';

/** Each text is a stream that breaks off; after the last one the right is gone. */
async function tail(texts: string[], isTerminal: boolean, words: string[] = []) {
  await using closing = new AsyncDisposableStack();
  let asked = 0;
  const { url, seen } = await startService(closing, (_seen, _request, response) => {
    const text = texts[asked++];
    if (text === undefined) return { status: 403, body: {} };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text, () => response.destroy());
    return undefined;
  });
  const env = { SLUICE_URL: url, SLUICE_API_KEY: keys.management };
  const result = await type(['invocations', 'tail', ...words], { env, isTerminal });
  return { ...result, seen };
}

test('shows each as a line, escaped, says what was left out, and goes on where the stream broke', async () => {
  const { out, error, seen } = await tail([event('1-0') + skipped, event('1-0') + event('1-1')], true, [
    '--status',
    '403',
  ]);
  expect(out.trim().split('\n')).toHaveLength(2);
  expect(out).toContain('POST  403  forbidden\\u001b[2J  3.2 ms  proxy p  trace t-1');
  expect(error).toContain('3 left out');
  expect(error).toContain('trying again');
  expect(seen.slice(0, 2).map(({ url }) => url)).toEqual([
    '/invocations?status=403&size=10',
    '/invocations?status=403&size=100',
  ]);
});

test('says how many values a response guard found', async () => {
  const guarded = event('1-0').replace('"token_ids"', '"guard_hits":2,"guard_token_ids":["t"],"token_ids"');
  const { out } = await tail([guarded], true);
  expect(out).toContain('403  forbidden\\u001b[2J  guard found 2  3.2 ms');
});

test('says why a destination sent no response', async () => {
  const failed = event('1-0').replace('"token_ids"', '"detail":"The name\\u001b[2J was not found","token_ids"');
  const { out } = await tail([failed], true);
  expect(out).toContain('403  forbidden\\u001b[2J (The name\\u001b[2J was not found)  3.2 ms');
});

test('programs get lines of JSON', async () => {
  const { out } = await tail([event('1-0')], false);
  expect(JSON.parse(out)).toEqual(invocation);
});

test('what is refused ends it', async () => {
  await using closing = new AsyncDisposableStack();
  const body = { type: 'urn:sluice:problem:forbidden', title: 'Forbidden', status: 403 };
  const { url } = await startService(closing, () => ({ status: 403, body }));
  const env = { SLUICE_URL: url, SLUICE_API_KEY: keys.management };
  expect((await type(['invocations', 'tail'], { env })).code).toBe(1);
  expect((await type(['invocations', 'tail', '--last', '0'], { env })).code).toBe(2);
});
