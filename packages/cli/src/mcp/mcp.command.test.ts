import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually, openTemporaryFolder, programEnvironment, useChildren } from '@sluice/testing';
import { keys, startService, type } from '../testing/test-command-line.ts';

const main = resolve(import.meta.dirname, '../main.ts');
const sessionKey = `svc_local_ses_${'s'.repeat(49)}`;
const proxy = { id: 'p', destination_url: 'https://example.com', path_name: 'a', response_guard: 'redact' };
const pagination = { total_items: 1, page_number: 1, page_size: 20, total_pages: 1 };

const isOver = useChildren();

type Service = Parameters<typeof startService>[1];

/** `sluice mcp` with an installation that has one route. Speaks the protocol by hand. */
async function start(closing: AsyncDisposableStack, answers: Record<string, Service> = {}) {
  const { seen, url } = await startService(closing, (asked, request, response) => {
    const [path = ''] = asked.url.split('?');
    const own = answers[`${asked.method} ${path}`];
    if (own) return own(asked, request, response);
    if (path === '/permissions') return { status: 200, body: [] };
    if (path === '/proxies') return { status: 200, body: { pagination, data: [proxy] } };
    if (path === '/sessions') return { status: 201, body: { id: 's', session_key: sessionKey, nonce: 'n' } };
    if (path === '/sessions/authorize') return { status: 200 };
    if (path === '/sessions/self') return { status: 204 };
    return { status: 200, headers: { 'SVC-PROXY-DESTINATION-STATUS': '200' }, body: {} };
  });
  const env = { XDG_CONFIG_HOME: await openTemporaryFolder(closing, 'mcp') };
  expect((await type(['login', '--url', url], { env, stdin: Object.values(keys).join('\n') })).code).toBe(0);
  const typed = [main, 'mcp', '--routes', 'a'];
  const child = isOver(spawn(process.execPath, typed, { env: { ...programEnvironment(), ...env } }));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const say = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } };
  say({ id: 1, method: 'initialize', params });
  const call = (id: number) =>
    say({ id, method: 'tools/call', params: { name: 'call', arguments: { route: 'a', method: 'GET', path: '/' } } });
  const isAnswered = (id: number) => lines.some((line) => JSON.parse(line).id === id);
  const deleted = () => seen.filter(({ method, url }) => `${method} ${url}` === 'DELETE /sessions/self').length;
  return { child, say, call, isAnswered, deleted, ended: once(child, 'close') };
}

test.each(['SIGTERM', 'SIGHUP'] as const)('at %s the session is deleted, and the exit code is 0', async (signal) => {
  await using closing = new AsyncDisposableStack();
  const { child, call, isAnswered, deleted, ended } = await start(closing);
  call(2);
  await eventually('the answer', () => isAnswered(2));
  child.kill(signal);
  expect(await ended).toEqual([0, null]);
  expect(deleted()).toBe(1);
});

test('a client that closes standard error is served, and the session is deleted', async () => {
  await using closing = new AsyncDisposableStack();
  const { child, call, isAnswered, deleted, ended } = await start(closing);
  call(2);
  await eventually('the answer', () => isAnswered(2));
  child.stderr.destroy();
  // A message that is none of the protocol, which is reported on standard error.
  child.stdin.write('{}\n');
  call(3);
  await eventually('the answer to the next call', () => isAnswered(3));
  child.stdin.end();
  expect(await ended).toEqual([0, null]);
  expect(deleted()).toBe(1);
});

test('a session that the service is slow to make does not keep the process', async () => {
  await using closing = new AsyncDisposableStack();
  const asked = Promise.withResolvers<void>();
  const { child, call, ended } = await start(closing, {
    'POST /sessions': () => {
      asked.resolve();
      return undefined;
    },
  });
  call(2);
  await asked.promise;
  child.stdin.end();
  expect(await ended).toEqual([0, null]);
});
