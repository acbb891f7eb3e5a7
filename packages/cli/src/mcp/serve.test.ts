import { PassThrough } from 'node:stream';
import { Sluice } from '@sluice/sdk';
import type { RouteSession } from '../routes/open-route-session.ts';
import { keys, startService } from '../testing/test-command-line.ts';
import { KeptSession } from './kept-session.ts';
import { serve } from './serve.ts';

type Result = { content: { text: string }[]; isError?: boolean };

const proxy = { id: 'p', tenant_id: 't', name: 'P', key: 'k', require_auth: true };
const routes = [{ ...proxy, path_name: 'a', destination_url: 'https://user.example.com:8443/path' }];
const session = (url: string): RouteSession => ({
  ...{ id: 's', key: 'k', container: '/agents/x/', expiresAt: new Date(0), end: async () => {} },
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

test.each<[string, object, string]>([
  ['call', {}, 'The destination may have acted'],
  ['tokenize', { value: 'v' }, 'The value may have been stored'],
])('without an answer, %s is an error that says so, and what may have happened', async (name, given, says) => {
  await using closing = new AsyncDisposableStack();
  const { url } = await startService(closing, () => undefined);
  const late = { isError: true, text: expect.stringContaining(`There was no answer within 0.2 s. ${says}`) };
  expect(await answerTo(new KeptSession(async () => session(url)), { answerMs: 200, name, given })).toEqual(late);
  // A session that is not made is not waited for either.
  const unmade = new KeptSession(() => new Promise(() => {}));
  expect(await answerTo(unmade, { answerMs: 200, name, given })).toEqual(late);
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
  ['a path that leaves the route', { path: '/../../tokens' }, 'must not lead out'],
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
    expect(seen.filter((one) => one.url.startsWith('/routes/'))).toHaveLength(times);
  },
);

test.each([
  ['is not refused otherwise', 200],
  ['cannot be asked for', 500],
])('a call that is refused with a key that %s is not sent again, and the session stays', async (_name, status) => {
  await using closing = new AsyncDisposableStack();
  const body = { proxy_error: { title: 'by the transform' } };
  const { url, seen } = await startService(closing, (asked) =>
    asked.url.startsWith('/routes/') ? { status: 401, body } : { status, body: [] },
  );
  let made = 0;
  const kept = new KeptSession(async () => {
    made++;
    return session(url);
  });
  const answer = await answerTo(kept, {});
  expect(answer).toEqual({ isError: true, text: expect.stringContaining('by the transform') });
  await answerTo(kept, {});
  expect(seen.map((one) => `${one.method} ${one.url}`)).toEqual([
    ...['GET /routes/a/', 'GET /permissions', 'GET /routes/a/', 'GET /permissions'],
  ]);
  expect(made).toBe(1);
});

test.each(['text/plain', 'application/json'])(
  'of a body of %s that does not end, and is not of the destination, only as much is read as is shown',
  async (type) => {
    await using closing = new AsyncDisposableStack();
    const { url } = await startService(closing, (_seen, _request, response) => {
      response.writeHead(200, { 'Content-Type': type, 'ACME-TRACE-ID': 't' }).write('x'.repeat(300_000));
      return undefined;
    });
    const answer = await answerTo(new KeptSession(async () => session(url)), {});
    expect(answer).toEqual({ isError: false, text: expect.stringContaining('the rest is cut off') });
    expect(answer.text).toContain('x'.repeat(40_000));
  },
);

test('a short answer in JSON that is not of the destination is shown whole', async () => {
  await using closing = new AsyncDisposableStack();
  const { url } = await startService(closing, () => ({
    status: 402,
    headers: { 'ACME-TRACE-ID': 't' },
    body: { a: 1 },
  }));
  const answer = await answerTo(new KeptSession(async () => session(url)), {});
  expect(answer).toEqual({ isError: false, text: 'status: 402\ncontent-type: application/json\n{"a":1}' });
});

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
