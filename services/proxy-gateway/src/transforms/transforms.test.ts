import { gzipSync } from 'node:zlib';
import { type CallOptions, call, useStack } from '@sluice/testing';
import { defaultAnswer } from '../testing/test-destination.ts';
import { startTestGateway } from '../testing/test-gateway.ts';
import type { ProxyParts, TestProxy } from '../testing/test-tenant.ts';

const gateway = useStack((stack) => startTestGateway(stack, { TRANSFORM_CPU_MS: '400' }));

afterEach(() => {
  gateway.current.destination.answer = defaultAnswer;
});

function proxyWith(parts: Omit<ProxyParts, 'destination'>): Promise<TestProxy> {
  const { tenant, destination } = gateway.current;
  return tenant.proxy({ destination: destination.url, requireAuth: false, ...parts });
}

function invoke(proxy: TestProxy, options: CallOptions = {}, { method = 'POST', path = '/proxy' } = {}) {
  return call(gateway.current.url, method, path, {
    ...options,
    headers: { 'SVC-PROXY-KEY': proxy.key, ...options.headers },
  });
}

function lastSeen() {
  const seen = gateway.current.destination.seen.at(-1);
  if (!seen) throw new Error('the destination saw nothing');
  return seen;
}

function answerWith(
  body: string | Buffer,
  headers: Record<string, string> = { 'Content-Type': 'application/json' },
  status = 200,
) {
  gateway.current.destination.answer = (_request, response) => response.writeHead(status, headers).end(body);
}

describe('request transforms', () => {
  test('receive body, headers, method, path, query and configuration', async () => {
    const requestTransform =
      'module.exports = async (req) => ({ body: { args: req.args, configuration: req.configuration, svc: typeof req.svc } });';
    const proxy = await proxyWith({ requestTransform, configuration: { secret: 's3cret' } });
    const headers = { 'X-Test': '1' };
    const path = `/proxy/sub/%20path?a=1&svc-proxy-key=${proxy.key}&b=2`;
    await invoke(proxy, { body: { hello: [1] }, headers, key: 'not looked at' }, { method: 'PUT', path });
    const { args, configuration, svc } = JSON.parse(lastSeen().body);
    expect(args).toMatchObject({ body: { hello: [1] }, method: 'PUT', path: '/sub/%20path', query: '?a=1&b=2' });
    expect(args.headers).toMatchObject({ 'x-test': '1', 'content-type': 'application/json' });
    expect(args.headers).not.toHaveProperty('svc-proxy-key');
    expect(args.headers).not.toHaveProperty('svc-api-key');
    expect(configuration).toEqual({ secret: 's3cret' });
    expect(svc).toBe('undefined');
  });

  test('see the values in the place of expressions', async () => {
    const { tenant } = gateway.current;
    const application = await tenant.application();
    const card = await tenant.token({ type: 'card', data: { number: '4242424242424242' } });
    const requestTransform =
      'module.exports = async ({ args: { body } }) => ({ body: { last4: body.card.number.slice(-4) } });';
    const proxy = await proxyWith({ requestTransform, requireAuth: true });
    await invoke(proxy, { key: application.key, body: `{"card":"{{${card}}}"}` });
    expect(lastSeen().body).toBe('{"last4":"4242"}');
  });

  test('headers that they return replace the original ones; framing and our own stay ours', async () => {
    const requestTransform = `module.exports = async ({ args }) => ({ headers: {
      'content-type': 'application/json', Authorization: 'Bearer x', 'X-List': ['a', 'b'], 'x-n': 1, 'x-gone': null,
      'content-length': '9999', 'transfer-encoding': 'chunked', host: 'evil.example', 'SVC-API-KEY': 'x', connection: 'close' } });`;
    const proxy = await proxyWith({ requestTransform });
    const answer = await invoke(proxy, { body: { a: 1 }, headers: { 'X-Gone': '1', 'X-Original': '1' } });
    expect(answer.status).toBe(200);
    const { headers, body } = lastSeen();
    expect(headers).toMatchObject({ authorization: 'Bearer x', 'x-list': 'a, b', 'x-n': '1', 'content-length': '7' });
    expect(headers.host).toBe(new URL(gateway.current.destination.url).host);
    for (const name of ['x-gone', 'x-original', 'svc-api-key', 'transfer-encoding'])
      expect(headers).not.toHaveProperty(name);
    expect(body).toBe('{"a":1}');
  });

  test.each([
    ['a body', '{ body: { b: 1 } }', '{"b":1}'],
    ['nothing', '{}', '{"a":1}'],
    ['the headers that it got', '{ headers: args.headers }', '{"a":1}'],
  ])('that return %s leave the other headers, less keys and framing', async (_, result, sent) => {
    const proxy = await proxyWith({ requestTransform: `module.exports = async ({ args }) => (${result});` });
    const headers = { 'X-Kept': '1', 'Proxy-Authorization': 'x', 'Content-Type': 'application/json' };
    const answer = await invoke(proxy, { body: '{"a":1}', headers, key: 'not looked at' });
    expect(answer.status).toBe(200);
    const seen = lastSeen();
    expect(seen.body).toBe(sent);
    expect(seen.headers).toMatchObject({
      'x-kept': '1',
      'content-type': 'application/json',
      'content-length': String(sent.length),
      host: new URL(gateway.current.destination.url).host,
    });
    for (const name of ['svc-api-key', 'svc-proxy-key', 'proxy-authorization']) {
      expect(seen.headers).not.toHaveProperty(name);
    }
  });

  test('a form arrives as an object and leaves as a form', async () => {
    const requestTransform = 'module.exports = async ({ args }) => ({ body: { ...args.body, added: "x y" } });';
    const proxy = await proxyWith({ requestTransform });
    await invoke(proxy, { body: 'a=1&b=2&b=3', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } });
    expect(lastSeen().body).toBe('a=1&b=2&b=3&added=x+y');
  });

  test('run for empty bodies; nothing is sent if the result is empty too', async () => {
    const echo = await proxyWith({ requestTransform: 'module.exports = async ({ args }) => ({ body: args.body });' });
    await invoke(echo, {}, { method: 'GET' });
    expect(lastSeen()).toMatchObject({ method: 'GET', body: '' });
    expect(lastSeen().headers).not.toHaveProperty('content-length');
    const added = await proxyWith({ requestTransform: 'module.exports = async () => ({ body: { a: 1 } });' });
    await invoke(added, {}, { method: 'POST' });
    expect(lastSeen().body).toBe('{"a":1}');
    expect(lastSeen().headers['content-type']).toBe('application/json');
  });

  test('text arrives as a string, binary passes by', async () => {
    const requestTransform = 'module.exports = async ({ args }) => ({ body: args.body.toUpperCase() });';
    const proxy = await proxyWith({ requestTransform });
    await invoke(proxy, { body: 'abc', headers: { 'Content-Type': 'text/plain' } });
    expect(lastSeen().body).toBe('ABC');
    await invoke(proxy, { body: 'abc', headers: { 'Content-Type': 'application/octet-stream' } });
    expect(lastSeen().body).toBe('abc');
  });

  test('a body that is not the JSON that it says is 400; one over 5 MiB is 413', async () => {
    const proxy = await proxyWith({ requestTransform: 'module.exports = async ({ args }) => args;' });
    expect((await invoke(proxy, { body: '{"a":1}, "headers": {"x":"y"}' })).status).toBe(400);
    expect((await invoke(proxy, { body: JSON.stringify('x'.repeat(5 * 1024 * 1024)) })).status).toBe(413);
  });
});

describe('response transforms', () => {
  test('receive body and headers, and change both', async () => {
    const responseTransform = `module.exports = async ({ args }) => ({
      body: { seen: args.body, type: args.headers['content-type'] }, headers: { ...args.headers, 'x-added': '1' } });`;
    const proxy = await proxyWith({ responseTransform });
    answerWith('{"a":1}', { 'Content-Type': 'application/json', 'X-Original': 'kept' }, 201);
    const answer = await invoke(proxy, { body: {} });
    expect(answer).toMatchObject({ status: 201, body: { seen: { a: 1 }, type: 'application/json' } });
    expect(answer.headers.get('x-added')).toBe('1');
    expect(answer.headers.get('x-original')).toBe('kept');
    expect(answer.headers.get('svc-proxy-destination-status')).toBe('201');
  });

  test('run whatever the status on JSON; other types only on success; binary never', async () => {
    const proxy = await proxyWith({ responseTransform: 'module.exports = async () => ({ body: { changed: true } });' });
    answerWith('{}', { 'Content-Type': 'application/problem+json' }, 500);
    expect(await invoke(proxy)).toMatchObject({ status: 500, body: { changed: true } });
    answerWith('text', { 'Content-Type': 'text/plain' });
    expect(await invoke(proxy)).toMatchObject({ status: 200, body: '{"changed":true}' });
    answerWith('text', { 'Content-Type': 'text/plain' }, 404);
    expect(await invoke(proxy)).toMatchObject({ status: 404, body: 'text' });
    answerWith('bytes', { 'Content-Type': 'application/octet-stream' });
    expect(await invoke(proxy)).toMatchObject({ status: 200, body: 'bytes' });
  });

  test('a compressed answer is decoded for them', async () => {
    const proxy = await proxyWith({ responseTransform: 'module.exports = async ({ args }) => ({ body: args.body });' });
    answerWith(gzipSync('{"a":1}'), { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' });
    const answer = await invoke(proxy);
    expect(answer.body).toEqual({ a: 1 });
    expect(answer.headers.get('content-encoding')).toBeNull();
  });
});

describe('the client object', () => {
  const requestTransform = `module.exports = async ({ args, svc }) => {
    const token = await svc.tokenize(args.body.number);
    const back = await svc.detokenize({ again: '{{' + token + '}}' });
    return { body: { token, back } };
  };`;

  test('acts with the permissions of the Proxy’s Application', async () => {
    const { tenant } = gateway.current;
    const rule = { priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] } as const;
    const application = await tenant.application({ permissions: ['token:create'], rules: [rule] });
    const proxy = await proxyWith({ requestTransform, applicationId: application.id });
    expect((await invoke(proxy, { body: { number: '4242424242424242' } })).status).toBe(200);
    const { token, back } = JSON.parse(lastSeen().body);
    expect(token).toMatch(/^[0-9a-f-]{36}$/);
    expect(back).toEqual({ again: '4242424242424242' });
  });

  test('detokenizes to plaintext under token:use, and by the rule for token:read without it', async () => {
    const { tenant } = gateway.current;
    const card = await tenant.token({ type: 'card', data: { number: '4242424242424242' } });
    const requestTransform = `module.exports = async ({ args, svc }) => ({
      body: await svc.detokenize({ number: '{{' + args.body.id + ' | json: "$.number" }}' }) });`;
    const number = async (permissions: string[]) => {
      const { id } = await tenant.application({ permissions });
      await invoke(await proxyWith({ requestTransform, applicationId: id }), { body: { id: card } });
      return JSON.parse(lastSeen().body).number;
    };
    expect(await number(['token:use'])).toBe('4242424242424242');
    expect(await number(['token:read'])).toBe('XXXXXXXXXXXX4242');
  });

  test('is refused what the Application may not do, and there is none once the Application is gone', async () => {
    const { tenant, db, announce } = gateway.current;
    const application = await tenant.application({ permissions: ['token:use'] });
    const proxy = await proxyWith({ requestTransform, applicationId: application.id });
    const refused = await invoke(proxy, { body: { number: '1' } });
    expect(refused.status).toBe(500);
    expect(refused.body.proxy_error).toMatchObject({ title: 'Transform failed' });
    expect(refused.body.proxy_error.detail).toContain('token:create');
    await db.deleteFrom('applications').where('id', '=', application.id).execute();
    await announce(tenant.id, [`application:${application.id}`]);
    const gone = await invoke(proxy, { body: { number: '1' } });
    expect(gone.body.proxy_error.detail).toContain('of undefined');
  });
});

describe('failures', () => {
  test.each([
    ['throw new Error("boom")', 500, 'Transform failed', 'boom'],
    ['throw null', 500, 'Transform failed', ''],
    ['return 5', 500, 'Transform failed', ''],
    ['for (;;) {}', 500, 'Transform failed', 'CPU'],
    [
      'const { BadRequestError } = require("svc-errors"); throw new BadRequestError("no", { errors: { a: ["b"] } })',
      400,
      'Bad request',
      '',
    ],
    ['require("fs")', 500, 'Transform failed', "Cannot find module 'fs'"],
  ])('%s is %i %s', async (code, status, title, detail) => {
    const proxy = await proxyWith({ requestTransform: `module.exports = async (req) => { ${code} };` });
    const before = gateway.current.destination.seen.length;
    const answer = await invoke(proxy, { body: {} });
    expect(answer.status).toBe(status);
    expect(answer.body.proxy_error.title).toBe(title);
    expect(answer.body.proxy_error.detail).toContain(detail);
    expect(answer.headers.get('svc-proxy-destination-status')).toBeNull();
    expect(gateway.current.destination.seen).toHaveLength(before);
  });

  test('CustomHttpResponseError is the whole answer, unwrapped', async () => {
    const code = `const { CustomHttpResponseError } = require('svc-errors');
      module.exports = async () => { throw new CustomHttpResponseError({ status: 402, headers: { 'X-Own': 'yes' }, body: { pay: true } }); };`;
    const early = await invoke(await proxyWith({ requestTransform: code }), { body: {} });
    expect(early).toMatchObject({ status: 402, body: { pay: true } });
    expect(early.headers.get('x-own')).toBe('yes');
    expect(early.headers.get('svc-proxy-destination-status')).toBeNull();
    const late = await invoke(await proxyWith({ responseTransform: code }), { body: {} });
    expect(late).toMatchObject({ status: 402, body: { pay: true } });
    expect(late.headers.get('svc-proxy-destination-status')).toBe('200');
  });

  test.each(['"bad\\nname": "x"', '"x": "a\\r\\nInjected: 1"', '"x": {}'])(
    'headers {%s} are refused',
    async (headers) => {
      const proxy = await proxyWith({ requestTransform: `module.exports = async () => ({ headers: {${headers}} });` });
      expect((await invoke(proxy, { body: {} })).status).toBe(500);
    },
  );
});
