import { keys, startService, type } from '../command-line-for-tests.ts';

type Answer = Parameters<typeof startService>[1];

async function invoke(answer: Answer) {
  await using closing = new AsyncDisposableStack();
  const { url } = await startService(closing, answer);
  const env = { SLUICE_URL: url, SLUICE_API_KEY: keys.private, SLUICE_PROXY_KEY: 'k' };
  return await type(['proxies', 'invoke', '-', '/x'], { env, isTerminal: false });
}

const reached = { 'svc-proxy-destination-status': '200' };

test('an answer that breaks off is told in a line, and leaves with 1', async () => {
  const cut: Answer = (_seen, _request, response) => {
    response.writeHead(200, { ...reached, 'content-length': '100' });
    response.write('{"id":', () => response.destroy());
  };
  const { code, out, error } = await invoke(cut);
  expect([code, out, error]).toEqual([1, '{"id":', 'The answer broke off: it is not complete\n']);
});

test.each<[string, number, Record<string, string>, number, string]>([
  ['of the gateway itself: as of every service', 503, {}, 3, 'the request did not reach the destination'],
  ['of the destination: it was reached', 503, reached, 1, 'The destination answered 503'],
  ['that is no 503, of the gateway', 502, {}, 1, 'the request did not reach the destination'],
])('an answer %s', async (_name, status, headers, expected, message) => {
  const { code, error } = await invoke(() => ({ status, headers, body: {} }));
  expect([code, error]).toEqual([expected, expect.stringContaining(message)]);
});
