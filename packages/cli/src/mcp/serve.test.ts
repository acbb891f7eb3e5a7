import { PassThrough } from 'node:stream';
import { Sluice } from '@sluice/sdk';
import { UsageError } from '../failure.ts';
import type { RouteSession } from '../routes/open-route-session.ts';
import { keys, startService } from '../testing/test-command-line.ts';
import { KeptSession } from './kept-session.ts';
import { serve } from './serve.ts';

type Result = { content: { text: string }[]; isError?: boolean };

const proxy = { id: 'p', tenant_id: 't', name: 'P', key: 'k', require_auth: true };
const routes = [{ ...proxy, path_name: 'a', destination_url: 'https://user.example.com:8443/path' }];
const session = (url: string, end = async () => {}): RouteSession => ({
  ...{ id: 's', key: 'k', container: '/agents/x/', expiresAt: new Date(0), end },
  client: new Sluice({ baseUrl: url, apiKey: keys.private, headerPrefix: 'ACME' }),
});

/** Serves one message of a client, and stays. */
function ask(kept: KeptSession, { answerMs = 100_000, name = 'call', given = {} }) {
  const [stdin, stdout, stopping] = [new PassThrough(), new PassThrough(), new AbortController()];
  const terminal = { stdin, stdout, stderr: new PassThrough(), env: {}, signal: stopping.signal };
  const ended = serve({ routes, session: kept, headerPrefix: 'ACME', answerMs }, terminal, () => undefined);
  const call = name === 'call' ? { route: 'a', method: 'GET', path: '/', ...given } : given;
  const says = (message: object) => stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  says({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
  });
  says({ id: 2, method: 'tools/call', params: { name, arguments: call } });
  const result = new Promise<Result>((resolve) => {
    let text = '';
    stdout.on('data', (chunk) => {
      text += chunk;
      const answers = text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
      const answer = answers.find(({ id }) => id === 2);
      if (answer) resolve(answer.result);
    });
  });
  return { result, ended, stop: () => stopping.abort() };
}

async function answerTo(kept: KeptSession, asked: Parameters<typeof ask>[1]) {
  const { result, ended, stop } = ask(kept, asked);
  const { content, isError = false } = await result;
  stop();
  await ended;
  return { isError, text: content.map(({ text }) => text).join('\n') };
}

test('list_routes tells names and hosts, and needs no session', async () => {
  const { text } = await answerTo(new KeptSession(() => Promise.reject(new Error('not needed'))), {
    name: 'list_routes',
  });
  expect(JSON.parse(text)).toEqual([{ route: 'a', host: 'user.example.com:8443' }]);
});

test('a call without an answer is an error that says so, and a service that has not answered is not waited for', async () => {
  await using closing = new AsyncDisposableStack();
  const { url } = await startService(closing, () => undefined);
  const late = { isError: true, text: expect.stringMatching(/^There was no answer within 0.2 s. .*may have acted/) };
  expect(await answerTo(new KeptSession(async () => session(url)), { answerMs: 200 })).toEqual(late);
  expect(await answerTo(new KeptSession(() => new Promise(() => {})), { answerMs: 200 })).toEqual(late);
});

test.each(['Authorization', 'x-api-key', 'SVC-Proxy-Key', 'acme-API-KEY', 'Host', 'Transfer-Encoding', 'X:Y'])(
  'the header %s is refused, and the call is not sent',
  async (name) => {
    await using closing = new AsyncDisposableStack();
    const { url, seen } = await startService(closing, () => ({ status: 200 }));
    const given = { headers: { 'X-Fine': 'a', [name]: 'secret' } };
    const { isError, text } = await answerTo(new KeptSession(async () => session(url)), { given });
    expect([isError, text]).toEqual([true, expect.stringMatching(/is not allowed|does not allow/)]);
    expect(text).not.toContain('secret');
    expect(seen).toEqual([]);
  },
);

test.each<[string, object, string]>([
  ['a route that is not served', { route: 'b' }, 'route'],
  ['a path that leaves the route', { path: '/../../tokens' }, 'must not leave'],
  ['a path that is an address', { path: 'https://example.com/' }, 'path'],
  ['a method in small letters', { method: 'get' }, 'method'],
  ['a body that HTTP does not allow', { body: 'x' }, 'body'],
  ['a member that there is not', { key: 'x' }, 'additional properties'],
])('a call that is not sent: %s', async (_name, given, message) => {
  await using closing = new AsyncDisposableStack();
  const { url, seen } = await startService(closing, () => ({ status: 200 }));
  const answer = await answerTo(new KeptSession(async () => session(url)), { given });
  expect(answer).toEqual({ isError: true, text: expect.stringContaining(message) });
  expect(seen).toEqual([]);
});

test('a failure that neither Sluice nor the destination has answered is an error, too', async () => {
  await using closing = new AsyncDisposableStack();
  const { url } = await startService(closing, () => ({ status: 502, text: 'balancer' }));
  const answer = await answerTo(new KeptSession(async () => session(url)), {});
  expect(answer).toMatchObject({ isError: true, text: expect.stringContaining('status: 502') });
});

test.each<[string, object, Record<string, string>, number, string, number]>([
  ['whose key is refused', {}, {}, 401, 'refused', 2],
  ['whose key is refused once the destination has answered', { destination_status: 201 }, {}, 401, 'answered 201', 1],
  ['that was lost', {}, { 'X-Should-Retry': 'false' }, 504, 'may have acted', 1],
])(
  'a call %s is sent again only if the destination has not acted',
  async (_name, more, headers, status, says, times) => {
    await using closing = new AsyncDisposableStack();
    const body = { proxy_error: { title: 'refused', ...more } };
    const { url, seen } = await startService(closing, () => ({ status, headers, body }));
    const answer = await answerTo(new KeptSession(async () => session(url)), {});
    expect(answer).toEqual({ isError: true, text: expect.stringContaining(says) });
    expect(seen).toHaveLength(times);
  },
);

test('a response that is interrupted is an error that shows nothing of it', async () => {
  await using closing = new AsyncDisposableStack();
  const { url } = await startService(closing, (_seen, _request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/plain', 'ACME-PROXY-DESTINATION-STATUS': '200' }).write('partial');
    setImmediate(() => response.destroy());
    return undefined;
  });
  const answer = await answerTo(new KeptSession(async () => session(url)), {});
  expect(answer).toEqual({ isError: true, text: expect.stringContaining('interrupted before its end') });
  expect(answer.text).not.toContain('partial');
});

describe('the session', () => {
  const { signal } = new AbortController();

  test('is tried again by the next call if it could not be made', async () => {
    const faults = [new UsageError('a route is gone')];
    const kept = new KeptSession(async () => {
      const fault = faults.pop();
      if (fault) throw fault;
      return session('http://localhost');
    });
    await expect(kept.use(async ({ id }) => id, signal)).rejects.toThrow('a route is gone');
    expect(await kept.use(async ({ id }) => id, signal)).toBe('s');
  });

  test('that is being made when the client leaves is ended, and no other is made', async () => {
    let ended = 0;
    const made = Promise.withResolvers<RouteSession>();
    const kept = new KeptSession(() => made.promise);
    const used = kept.use(async ({ id }) => id, signal);
    const closing = kept.close();
    made.resolve(session('http://localhost', async () => void ended++));
    await Promise.all([used, closing]);
    expect(ended).toBe(1);
    await expect(kept.use(async ({ id }) => id, signal)).rejects.toThrow('ending');
  });

  test('that could not be deleted is reported', async () => {
    const kept = new KeptSession(async () => session('http://localhost', () => Promise.reject(new Error('away'))));
    await kept.use(async ({ id }) => id, signal);
    await expect(kept.close()).rejects.toThrow('away');
  });
});
