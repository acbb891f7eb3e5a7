import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { createInterface } from 'node:readline';
import { eventually, serveHttp, useStack } from '@sluice/testing';
import { mainFile } from './open-command-line.ts';
import { connectAgent, credential, openMcp } from './open-mcp.ts';

const world = useStack(async (closing) => {
  const mcp = await openMcp(closing);
  const image = await serveHttp(closing, (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'image/png' }).end(Buffer.alloc(1234, 1));
  });
  await mcp.createRoute('guarded', { response_guard: 'redact' });
  await mcp.createRoute('other', { response_guard: 'tokenize' });
  await mcp.createRoute('open', {});
  await mcp.platform.createProxy({ path_name: 'image', destination_url: image, response_guard: 'block' });
  const connect = (routes: string, mode?: 'legacy' | 'auto', more: string[] = []) =>
    connectAgent(['--routes', routes, ...more], { env: mcp.env, closing, ...(mode && { mode }) });
  return { ...mcp, connect };
});

test('it has three tools, which say what they can do', async () => {
  const { client } = await world.current.connect('guarded');
  const { tools } = await client.listTools();
  expect(tools.map(({ name, annotations }) => [name, annotations])).toEqual([
    ['list_routes', { readOnlyHint: true, openWorldHint: false }],
    ['call', { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }],
    ['tokenize', { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false }],
  ]);
  // A route may replace no tokens, and an unguarded one may show their values.
  const [, call, tokenize] = tools.map(({ description }) => description);
  for (const description of [call, tokenize]) expect(description).toMatch(/if (the|a) route replaces tokens/i);
  expect(tokenize).toContain('A destination that receives the value may show it');
});

test.each(['legacy', 'auto'] as const)(
  'an agent lists routes, and calls one with its credential (%s)',
  async (mode) => {
    const { connect, echo } = world.current;
    const { use, call } = await connect('guarded,other', mode);
    const host = new URL(echo.url).host;
    expect(JSON.parse((await use('list_routes')).head)).toEqual([
      { route: 'guarded', host },
      { route: 'other', host },
    ]);
    const answer = await call('guarded', '/a?b=c', { method: 'POST', headers: { 'X-Mine': '1' }, body: { d: 'e' } });
    expect(answer).toMatchObject({ isError: false, head: 'status: 200\ncontent-type: application/json' });
    expect(JSON.parse(answer.body)).toMatchObject({ url: '/a?b=c', body: '{"d":"e"}', headers: { 'x-mine': '1' } });
    const { headers } = echo.seen.at(-1) ?? {};
    expect(headers).toMatchObject({ authorization: `Bearer ${credential}`, 'content-type': 'application/json' });
  },
);

test('the session is made at the first call, serves all, and is gone when the client has left', async () => {
  const { connect, sessions } = world.current;
  const before = await sessions();
  const isNew = ({ id }: { id: string }) => !before.some((one) => one.id === id);
  const { client, use, call } = await connect('guarded');
  await use('list_routes');
  expect((await sessions()).filter(isNew)).toEqual([]);
  await Promise.all([call('guarded', '/1'), call('guarded', '/2'), use('tokenize', { value: 'v' })]);
  const [made, ...more] = (await sessions()).filter(isNew);
  expect([made, more]).toEqual([expect.anything(), []]);
  await client.close();
  expect((await sessions()).filter(isNew)).toEqual([]);
});

test('a session that has ended is made again', async () => {
  const { connect, sessions, platform } = world.current;
  const before = (await sessions()).map(({ id }) => id);
  const { call, use } = await connect('guarded');
  expect((await call('guarded', '/')).isError).toBe(false);
  const first = (await sessions()).find(({ id }) => !before.includes(id));
  await platform.manage('DELETE', `/sessions/${first?.id}`);
  const answers = await Promise.all([call('guarded', '/'), call('guarded', '/'), use('tokenize', { value: 'v' })]);
  expect(answers.map(({ isError }) => isError)).toEqual([false, false, false]);
  const now = (await sessions()).filter(({ id }) => !before.includes(id));
  expect([now.length, now[0]?.id === first?.id]).toEqual([1, false]);
});

test('a value that the agent tokenizes goes into its calls, and into no answer of ours', async () => {
  const { connect, echo, platform } = world.current;
  const { use, call } = await connect('guarded');
  const { id, expression } = JSON.parse((await use('tokenize', { value: 'a private value' })).head);
  expect(expression).toBe(`{{ ${id} }}`);
  await call('guarded', '/', { method: 'POST', body: { value: expression } });
  expect(echo.seen.at(-1)?.body).toBe('{"value":"a private value"}');
  const { body } = await platform.call('GET', `/tokens/${id}`, { key: world.current.backend.key });
  expect(body.containers).toEqual([expect.stringMatching(/^\/agents\/[0-9a-f]{32}\/$/)]);
});

test('an answer of the destination is no error, whatever its status; a refusal of ours is one, and says why', async () => {
  const { connect } = world.current;
  const { call } = await connect('guarded');
  expect(await call('guarded', '/refusing')).toMatchObject({
    isError: false,
    head: expect.stringMatching(/^status: 401/),
  });
  expect(await call('guarded', '/failing')).toMatchObject({
    isError: false,
    head: expect.stringMatching(/^status: 500/),
  });
  const refused = await call('guarded', '/', { method: 'POST', body: { a: '{{ nothing }}' } });
  expect(refused).toMatchObject({ isError: true, head: expect.stringContaining('nothing') });
});

test('an answer that a transform gives in the place of the destination is no error', async () => {
  const { connect, createRoute } = world.current;
  const code = `const { CustomHttpResponseError } = require('svc-errors');
    module.exports = async () => { throw new CustomHttpResponseError({ status: 402, body: { pay: 'first' } }); };`;
  await createRoute('paid', { response_guard: 'redact', request_transform: { code } });
  const { call } = await connect('paid');
  const answer = await call('paid', '/', { method: 'POST', body: {} });
  expect(answer).toEqual({
    isError: false,
    head: 'status: 402\ncontent-type: application/json',
    body: '{"pay":"first"}',
  });
});

test('a call that a transform refuses with 401 is refused, and the session goes on', async () => {
  const { connect, createRoute, sessions } = world.current;
  const code = `const { AuthenticationError } = require('svc-errors');
    module.exports = async () => { throw new AuthenticationError('not you'); };`;
  await createRoute('strict', { response_guard: 'redact', request_transform: { code } });
  const { call, use } = await connect('strict,guarded');
  expect((await use('tokenize', { value: 'v' })).isError).toBe(false);
  const before = (await sessions()).map(({ id }) => id);
  for (let count = 0; count < 2; count++) {
    const refused = await call('strict', '/', { method: 'POST', body: {} });
    expect(refused).toMatchObject({ isError: true, head: expect.stringContaining('not you') });
  }
  expect((await sessions()).map(({ id }) => id)).toEqual(before);
  expect((await call('guarded', '/')).isError).toBe(false);
});

test('no route is called with a key of the profile', async () => {
  const { platform, backend, env, sluice } = world.current;
  const { management_key } = platform.stack.credentials;
  await using closing = new AsyncDisposableStack();
  const requests: { path: string; key: string }[] = [];
  const front = await serveHttp(closing, (request, response) => {
    const { method, url: path = '', headers } = request;
    requests.push({ path, key: String(headers['svc-api-key']) });
    const sent = httpRequest(platform.stack.baseUrl + path, { method, headers }, (answer) => {
      answer.pipe(response.writeHead(answer.statusCode ?? 0, answer.rawHeaders));
    });
    sent.on('error', () => response.destroy());
    request.pipe(sent);
  });
  const page = await platform.createApplication({ type: 'public', permissions: ['token:create'] });
  const stdin = [management_key, backend.key, page.key].join('\n');
  expect(await sluice(['login', '--profile', 'fronted', '--url', front], { stdin })).toMatchObject({ code: 0 });
  const { use, call, client } = await connectAgent(['--profile', 'fronted', '--routes', 'guarded'], { env, closing });
  const { expression } = JSON.parse((await use('tokenize', { value: 'v' })).head);
  expect(await call('guarded', '/', { method: 'POST', body: [expression] })).toMatchObject({ isError: false });
  await client.close();
  const ofAgent = requests.filter(({ path }) => /^\/(routes|tokens|sessions\/self)\b/.test(path));
  expect(ofAgent.map(({ path }) => path)).toEqual(['/tokens', '/routes/guarded/', '/sessions/self']);
  const keys = new Set(ofAgent.map(({ key }) => key));
  expect(keys.size).toBe(1);
  for (const own of [management_key, backend.key, page.key]) expect(keys).not.toContain(own);
});

test('a body that is no text is told by type and size, and a long one is cut, which is said', async () => {
  const { connect } = world.current;
  const { call } = await connect('guarded,image');
  const image = await call('image', '/');
  expect(image).toMatchObject({ isError: false, body: '' });
  expect(image.head).toBe(
    'status: 200\ncontent-type: image/png\nnote: The body is not text, so it is not shown. Its size is 1234 bytes.',
  );
  const long = await call('guarded', '/long');
  expect([long.body.length, long.head]).toEqual([40_000, expect.stringContaining('first 40,000 characters')]);
});

test('routes without a guard are a usage error that names them', async () => {
  const { sluice } = world.current;
  const refused = await sluice(['mcp', '--routes', 'guarded,open']);
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('open (Proxy ') });
  expect(refused.stderr).not.toContain('guarded (');
});

test('a guard that was switched off since is noticed before a session is made', async () => {
  const { connect, createRoute, platform } = world.current;
  const { id } = await createRoute('changed', { response_guard: 'redact' });
  const { call } = await connect('changed');
  await platform.sluice.proxies.patch(id, { response_guard: 'off' });
  const refused = await call('changed', '/');
  expect(refused).toMatchObject({ isError: true, head: expect.stringContaining('response_guard') });
});

describe('as a process', () => {
  /** Speaks the protocol by hand. */
  async function start() {
    const { env, sessions } = world.current;
    const before = (await sessions()).map(({ id }) => id);
    const child = spawn(process.execPath, [mainFile, 'mcp', '--routes', 'guarded'], { env });
    const lines: string[] = [];
    const output = createInterface({ input: child.stdout });
    output.on('line', (line) => lines.push(line));
    const say = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const ask = async (id: number, method: string, params: object) => {
      say({ id, method, params });
      const answers = () => lines.map((line) => JSON.parse(line)).find((answer) => answer.id === id);
      while (!answers()) await once(output, 'line');
      return answers();
    };
    await ask(1, 'initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
    });
    say({ method: 'notifications/initialized' });
    const call = { name: 'call', arguments: { route: 'guarded', method: 'GET', path: '/' } };
    const { result } = await ask(2, 'tools/call', call);
    expect(result.content[0].text).toMatch(/^status: 200/);
    const left = async () => (await sessions()).filter(({ id }) => !before.includes(id));
    expect(await left()).toHaveLength(1);
    return { child, lines, left, say, ended: once(child, 'close') };
  }

  test.each<[string, (child: ReturnType<typeof spawn>) => void]>([
    ['standard input is closed', (child) => child.stdin?.end()],
    ['SIGTERM', (child) => child.kill('SIGTERM')],
  ])('a call that is under way does not keep the process: %s', async (_name, end) => {
    const { child, left, ended, say } = await start();
    const { echo } = world.current;
    const before = echo.seen.length;
    say({
      id: 4,
      method: 'tools/call',
      params: { name: 'call', arguments: { route: 'guarded', method: 'GET', path: '/silent' } },
    });
    await eventually('the call at the destination', async () => echo.seen.length > before);
    end(child);
    expect(await ended).toEqual([0, null]);
    expect(await left()).toEqual([]);
  });

  test('that is never spoken to ends with 0', async () => {
    const { sluice } = world.current;
    expect(await sluice(['mcp', '--routes', 'guarded'])).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('nothing but the protocol is on standard output, also after nonsense', async () => {
    const { child, lines, ended, say } = await start();
    child.stdin.write('nonsense\n');
    say({ id: 3, method: 'tools/list', params: {} });
    await eventually('an answer after nonsense', async () => lines.some((line) => JSON.parse(line).id === 3));
    child.stdin.end();
    await ended;
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  });

  test.each<[string, (child: ReturnType<typeof spawn>) => void]>([
    ['standard input is closed', (child) => child.stdin?.end()],
    ['SIGTERM', (child) => child.kill('SIGTERM')],
    [
      'the client is gone, and reads nothing more',
      (child) => {
        child.stdout?.destroy();
        child.stdin?.end(`${JSON.stringify({ jsonrpc: '2.0', id: 9, method: 'tools/list', params: {} })}\n`);
      },
    ],
  ])('the session is deleted, and the exit code is 0: %s', async (_name, end) => {
    const { child, left, ended } = await start();
    end(child);
    expect(await ended).toEqual([0, null]);
    expect(await left()).toEqual([]);
  });
});
