import { gzipSync } from 'node:zlib';
import { type CallOptions, call, eventually, useStack } from '@sluice/testing';
import { defaultAnswer } from '../testing/test-destination.ts';
import { startTestGateway } from '../testing/test-gateway.ts';
import type { TestProxy } from '../testing/test-tenant.ts';

const gateway = useStack((stack) => startTestGateway(stack));

async function setUp(requireAuth = true) {
  const { tenant, destination } = gateway.current;
  const application = await tenant.application();
  const proxy = await tenant.proxy({ destination: `${destination.url}/base?fixed=1`, requireAuth });
  const card = await tenant.token({ type: 'card', data: { number: '4242424242424242', expiration_month: 12 } });
  const text = await tenant.token({ type: 'token', data: 'say "hi" <now> & then\n' });
  return { application, proxy, card, text };
}

function invoke(proxy: TestProxy, method: string, path: string, options: CallOptions = {}) {
  const headers = { 'SVC-PROXY-KEY': proxy.key, ...options.headers };
  return call(gateway.current.url, method, path, { ...options, headers });
}

function lastSeen() {
  const seen = gateway.current.destination.seen.at(-1);
  if (!seen) throw new Error('the destination saw nothing');
  return seen;
}

afterEach(() => {
  gateway.current.destination.answer = defaultAnswer;
});

describe('selecting the proxy', () => {
  test('by header, by query parameter, or by both with the same value', async () => {
    const { proxy, application } = await setUp();
    const { url } = gateway.current;
    const options = { key: application.key };
    expect((await invoke(proxy, 'GET', '/proxy', options)).status).toBe(200);
    expect((await call(url, 'GET', `/proxy?svc-proxy-key=${proxy.key}`, options)).status).toBe(200);
    expect((await invoke(proxy, 'GET', `/proxy?svc-proxy-key=${proxy.key}`, options)).status).toBe(200);
  });

  test('no key is 400, two different keys are 400, an unknown key is 404', async () => {
    const { proxy, application } = await setUp();
    const { url } = gateway.current;
    expect((await call(url, 'GET', '/proxy', { key: application.key })).status).toBe(400);
    const other = 'x'.repeat(32);
    expect((await invoke(proxy, 'GET', `/proxy?svc-proxy-key=${other}`, { key: application.key })).status).toBe(400);
    expect((await call(url, 'GET', `/proxy?svc-proxy-key=${other}`, { key: application.key })).status).toBe(404);
  });

  test('a proxy of another Tenant looks exactly like one that does not exist', async () => {
    const { proxy } = await setUp();
    const outsider = await gateway.current.stranger.application();
    const foreign = await invoke(proxy, 'GET', '/proxy', { key: outsider.key });
    const unknown = await invoke({ id: '', key: 'x'.repeat(32) }, 'GET', '/proxy', { key: outsider.key });
    expect(foreign.status).toBe(404);
    expect([foreign.body.error.type, foreign.headers.get('x-should-retry')]).toEqual(['sluice_not_found', 'false']);
    expect({ ...foreign.body.proxy_error, instance: '' }).toEqual({ ...unknown.body.proxy_error, instance: '' });
  });

  test('only /proxy and what is below it', async () => {
    const { proxy, application } = await setUp();
    for (const path of ['/proxyfoo', '/', '/PROXY', '/other/proxy']) {
      expect((await invoke(proxy, 'GET', path, { key: application.key })).status).toBe(404);
    }
  });
});

describe('authentication', () => {
  test('a proxy that asks for a key refuses every other kind of key with one answer', async () => {
    const { proxy } = await setUp();
    const { tenant } = gateway.current;
    const expired = await tenant.application({ expiresAt: new Date(Date.now() - 1000) });
    const bodies = [];
    for (const key of [undefined, '', 'nonsense', `svc_test_prv_${'0'.repeat(49)}`, expired.key]) {
      const answer = await invoke(proxy, 'POST', '/proxy', { body: {}, ...(key !== undefined && { key }) });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('svc-proxy-destination-status')).toBeNull();
      bodies.push(JSON.stringify({ ...answer.body.proxy_error, instance: '' }));
    }
    expect(new Set(bodies).size).toBe(1);
  });

  test('token:use is needed even where there is nothing to detokenize; a rule is enough', async () => {
    const { proxy } = await setUp();
    const { tenant } = gateway.current;
    const without = await tenant.application({ permissions: ['token:read'] });
    const refused = await invoke(proxy, 'GET', '/proxy', { key: without.key });
    expect(refused.status).toBe(403);
    expect(refused.body.proxy_error.detail).toContain('token:use');
    const rule = { priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:use'] } as const;
    const byRule = await tenant.application({ permissions: [], rules: [rule] });
    expect((await invoke(proxy, 'GET', '/proxy', { key: byRule.key })).status).toBe(200);
  });

  test('without require_auth nobody is refused, and an expression without key passes as it is', async () => {
    const { proxy, card } = await setUp(false);
    const body = `{"card":"{{ ${card} }}"}`;
    expect((await invoke(proxy, 'POST', '/proxy', { body })).status).toBe(200);
    expect(lastSeen().body).toBe(body);
    expect((await invoke(proxy, 'POST', '/proxy', { body: '{"a":1}', key: 'nonsense' })).status).toBe(200);
  });

  test('without require_auth a key is looked at only when the body holds an expression', async () => {
    const { proxy, card, application } = await setUp(false);
    const { tenant } = gateway.current;
    const body = `{"card":"{{ ${card} | json: '$.number' }}"}`;
    expect((await invoke(proxy, 'POST', '/proxy', { body, key: 'nonsense' })).status).toBe(401);
    const without = await tenant.application({ permissions: ['token:read'] });
    expect((await invoke(proxy, 'POST', '/proxy', { body, key: without.key })).status).toBe(403);
    expect((await invoke(proxy, 'POST', '/proxy', { body, key: application.key })).status).toBe(200);
    expect(lastSeen().body).toBe('{"card":"4242424242424242"}');
  });
});

describe('detokenization', () => {
  test('a JSON string that is one expression becomes the value; among other text it is text; the rest stays byte for byte', async () => {
    const { proxy, application, card, text } = await setUp();
    const body = `{ "card" : "{{${card}}}", "n": 1e400, "big":12345678901234567890,"dup":1,"dup":2,\n "mix":"<{{ ${text} }}>", "{{${card}}}":"name stays" }`;
    expect((await invoke(proxy, 'POST', '/proxy', { key: application.key, body })).status).toBe(200);
    const expected = body
      .replace(`"{{${card}}}",`, '{"number":"4242424242424242","expiration_month":12},')
      .replace(`"<{{ ${text} }}>"`, JSON.stringify('<say "hi" <now> & then\n>'));
    expect(lastSeen().body).toBe(expected);
    expect(lastSeen().headers['content-length']).toBe(`${Buffer.byteLength(expected)}`);
  });

  test('filters work on the value', async () => {
    const { proxy, application, card } = await setUp();
    const body = `{"n":"{{ ${card} | json: '$.number' | last4 }}","m":"{{ ${card} | json: '$.expiration_month' }}"}`;
    await invoke(proxy, 'POST', '/proxy', { key: application.key, body });
    expect(lastSeen().body).toBe('{"n":"4242","m":12}');
  });

  test('an expression spelled with escapes is the same string', async () => {
    const { proxy, application, text } = await setUp();
    const body = `{"a":"\\u007b\\u007b${text}}}"}`;
    await invoke(proxy, 'POST', '/proxy', { key: application.key, body });
    expect(JSON.parse(lastSeen().body)).toEqual({ a: 'say "hi" <now> & then\n' });
  });

  test.each([
    [
      'application/x-www-form-urlencoded',
      (id: string) => `a=%7B%7B${id}%7D%7D&b={{${id}}}&{{x}}=1`,
      'a=say+%22hi%22+%3Cnow%3E+%26+then%0A&b=say+%22hi%22+%3Cnow%3E+%26+then%0A&{{x}}=1',
    ],
    ['text/plain', (id: string) => `é{{${id}}}é`, 'ésay "hi" <now> & then\né'],
    [
      'text/xml; charset=utf-8',
      (id: string) => `<a b="{{${id}}}"/>`,
      '<a b="say &quot;hi&quot; &lt;now&gt; &amp; then&#10;"/>',
    ],
    ['application/vnd.api+json', (id: string) => `["{{${id}}}"]`, '["say \\"hi\\" <now> & then\\n"]'],
  ])('in %s with the escaping of its place', async (contentType, write, expected) => {
    const { proxy, application, text } = await setUp();
    const headers = { 'Content-Type': contentType };
    const answer = await invoke(proxy, 'POST', '/proxy', { key: application.key, body: write(text), headers });
    expect(answer.status).toBe(200);
    expect(lastSeen().body).toBe(expected);
  });

  test('binary bodies, and multipart ones that are no forms, pass untouched', async () => {
    const { proxy, application, text } = await setUp();
    const body = `--x\r\n\r\n{{${text}}}\r\n--x--`;
    for (const contentType of ['multipart/mixed; boundary=x', 'application/octet-stream', 'image/png']) {
      await invoke(proxy, 'POST', '/proxy', { key: application.key, body, headers: { 'Content-Type': contentType } });
      expect(lastSeen().body).toBe(body);
    }
  });

  test('a compressed body is read, and sent on without its coding', async () => {
    const { proxy, application, text } = await setUp();
    const response = await fetch(`${gateway.current.url}/proxy`, {
      method: 'POST',
      headers: {
        'SVC-PROXY-KEY': proxy.key,
        'SVC-API-KEY': application.key,
        'Content-Type': 'application/json',
        'Content-Encoding': 'gzip',
      },
      body: gzipSync(`["{{${text}}}"]`),
    });
    expect(response.status).toBe(200);
    expect(lastSeen().body).toBe('["say \\"hi\\" <now> & then\\n"]');
    expect(lastSeen().headers['content-encoding']).toBeUndefined();
  });

  test('an unknown token is 400 and named, one that may not be used is 403 and named; nothing is sent', async () => {
    const { proxy, application, card } = await setUp();
    const { tenant, destination } = gateway.current;
    const before = destination.seen.length;
    const unknown = await invoke(proxy, 'POST', '/proxy', { key: application.key, body: '{"a":"{{nosuch}}"}' });
    expect(unknown.status).toBe(400);
    expect(unknown.body.proxy_error).toMatchObject({ title: 'Invalid proxy request', status: 400 });
    expect(unknown.body.proxy_error.detail).toContain('nosuch');
    const rule = { priority: 1, container: '/other/', transform: 'reveal', permissions: ['token:use'] } as const;
    const elsewhere = await tenant.application({ permissions: [], rules: [rule] });
    const refused = await invoke(proxy, 'POST', '/proxy', { key: elsewhere.key, body: `{"a":"{{${card}}}"}` });
    expect(refused.status).toBe(403);
    expect(refused.body.proxy_error.detail).toContain(card);
    expect(destination.seen).toHaveLength(before);
  });

  test('a token of another Tenant is an unknown token', async () => {
    const { proxy, application } = await setUp();
    const foreign = await gateway.current.stranger.token({ type: 'token', data: 'secret of others' });
    const answer = await invoke(proxy, 'POST', '/proxy', { key: application.key, body: `{"a":"{{${foreign}}}"}` });
    expect(answer.status).toBe(400);
    expect(answer.body.proxy_error.detail).toBe(`Unknown tokens: ${foreign}`);
  });

  test.each(['{"a":"{{ }}"}', '{"a":"{{x"}', '{"a":"{{x | nofilter }}"}', '{"a":{{x}}}', '{"a":"{{x}}'])(
    'a malformed expression is 400: %s',
    async (body) => {
      const { proxy, application } = await setUp();
      expect((await invoke(proxy, 'POST', '/proxy', { key: application.key, body })).status).toBe(400);
    },
  );

  test('over 100 distinct tokens are 400', async () => {
    const { proxy, application } = await setUp();
    const body = JSON.stringify(Array.from({ length: 101 }, (_, i) => `{{token-${i}}}`));
    expect((await invoke(proxy, 'POST', '/proxy', { key: application.key, body })).status).toBe(400);
  });

  test('each disclosure is a row that names tokens and destination, and no value', async () => {
    const { proxy, application, card } = await setUp();
    const { db, destination, tenant } = gateway.current;
    const headers = { 'SVC-TRACE-ID': `trace-${card}` };
    await invoke(proxy, 'POST', '/proxy', { key: application.key, body: `["{{${card}}}"]`, headers });
    const find = () => db.selectFrom('audit_log').selectAll().where('trace_id', '=', `trace-${card}`).execute();
    await eventually('the row', async () => (await find()).length > 0);
    const [row, ...others] = await find();
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      tenant_id: tenant.id,
      actor_id: application.id,
      operation: 'use',
      entity_type: 'proxy',
      entity_id: proxy.id,
      detail: { token_ids: [card], destination_host: new URL(destination.url).host },
    });
    expect(JSON.stringify(row)).not.toContain('4242424242424242');
  });
});

describe('forwarding', () => {
  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'])(
    '%s is forwarded with path, query and body',
    async (method) => {
      const { proxy, application } = await setUp();
      const body = method === 'GET' ? {} : { body: '{"a":1}' };
      const answer = await invoke(proxy, method, `/proxy/x/%2Fy?b=2&svc-proxy-key=${proxy.key}&c=%20`, {
        key: application.key,
        ...body,
      });
      expect(answer.status).toBe(200);
      expect(lastSeen()).toMatchObject({
        method,
        url: '/base/x/%2Fy?fixed=1&b=2&c=%20',
        body: method === 'GET' ? '' : '{"a":1}',
      });
    },
  );

  test('without suffix and query the destination is used exactly', async () => {
    const { proxy, application } = await setUp();
    await invoke(proxy, 'GET', '/proxy', { key: application.key });
    expect(lastSeen().url).toBe('/base?fixed=1');
  });

  test('our own headers, Host and hop-by-hop headers stay behind; Authorization goes on', async () => {
    const { proxy, application } = await setUp();
    const headers = { Authorization: 'Bearer x', 'SVC-TRACE-ID': 'abc', 'SVC-ANYTHING': '1', 'X-Custom': 'kept' };
    const answer = await invoke(proxy, 'GET', '/proxy', { key: application.key, headers });
    const { headers: sent } = lastSeen();
    expect(sent).toMatchObject({
      authorization: 'Bearer x',
      'x-custom': 'kept',
      host: new URL(gateway.current.destination.url).host,
    });
    expect(Object.keys(sent).filter((name) => name.startsWith('svc-'))).toEqual([]);
    expect(answer.headers.get('svc-trace-id')).toBe('abc');
  });

  test('the answer comes back as it is, with its status in our header and without headers of our prefix', async () => {
    const { proxy, application } = await setUp();
    gateway.current.destination.answer = (_request, response) => {
      response
        .writeHead(418, 'teapot', ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'SVC-EVIL', '1', 'X-Teapot', 'short'])
        .end('stout');
    };
    const answer = await invoke(proxy, 'GET', '/proxy', { key: application.key });
    expect(answer).toMatchObject({ status: 418, body: 'stout' });
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(answer.headers.get('svc-evil')).toBeNull();
    expect(answer.headers.get('svc-proxy-destination-status')).toBe('418');
  });

  test('a redirect is not followed', async () => {
    const { proxy, application } = await setUp();
    gateway.current.destination.answer = (_request, response) => {
      response.writeHead(302, { Location: 'http://169.254.169.254/' }).end();
    };
    const answer = await invoke(proxy, 'GET', '/proxy', { key: application.key });
    expect(answer.status).toBe(302);
    expect(answer.headers.get('location')).toBe('http://169.254.169.254/');
  });

  test('SVC-PROXY-KEEP-ALIVE and SVC-PROXY-CONNECTION become the headers of the call', async () => {
    const { proxy, application, text } = await setUp();
    const headers = { 'SVC-PROXY-KEEP-ALIVE': 'timeout=7', 'SVC-PROXY-CONNECTION': 'close' };
    const answer = await invoke(proxy, 'POST', '/proxy', { key: application.key, headers, body: `["{{${text}}}"]` });
    expect(answer.status).toBe(200);
    expect(lastSeen().headers).toMatchObject({ 'keep-alive': 'timeout=7', connection: 'close' });
    expect(lastSeen().body).toContain('say');
    const nominating = { 'SVC-PROXY-CONNECTION': 'authorization', Authorization: 'x' };
    expect((await invoke(proxy, 'GET', '/proxy', { key: application.key, headers: nominating })).status).toBe(400);
  });

  test.each(['/proxy/../secret', '/proxy/%2e%2e/secret', '/proxy/a/..%2f..%2f', '/proxy/a%5c..%5cb'])(
    '%s never leaves the base path',
    async (path) => {
      const { proxy, application } = await setUp();
      const { url, destination } = gateway.current;
      const before = destination.seen.length;
      const { hostname, port } = new URL(url);
      const { request } = await import('node:http');
      const status = await new Promise((resolve, reject) => {
        const headers = { 'SVC-PROXY-KEY': proxy.key, 'SVC-API-KEY': application.key };
        request({ hostname, port, path, headers }, (response) => resolve(response.resume().statusCode))
          .on('error', reject)
          .end();
      });
      expect(status).toBe(400);
      expect(destination.seen).toHaveLength(before);
    },
  );

  test('a destination that cannot be reached is 502 proxy_error without destination status', async () => {
    const { application } = await setUp();
    const { tenant } = gateway.current;
    for (const destination of ['http://127.0.0.1:1/', 'http://169.254.169.254/', 'http://10.0.0.1/']) {
      const proxy = await tenant.proxy({ destination });
      const answer = await invoke(proxy, 'GET', '/proxy', { key: application.key });
      expect(answer.status).toBe(502);
      expect(answer.body.proxy_error.detail).toBe('The destination could not be reached');
      expect(answer.body.error).toEqual({
        type: 'sluice_destination_unreachable',
        code: 'destination_unreachable',
        message: 'Destination unreachable: The destination could not be reached',
      });
      expect(answer.headers.get('x-should-retry')).toBeNull();
      expect(answer.headers.get('svc-proxy-destination-status')).toBeNull();
    }
  });

  test('an answer that is cut off never looks complete', async () => {
    const { proxy, application } = await setUp();
    gateway.current.destination.answer = (_request, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('half', () => response.destroy());
    };
    await expect(invoke(proxy, 'GET', '/proxy', { key: application.key })).rejects.toThrow();
  });

  test('HEAD and 204 carry no body', async () => {
    const { proxy, application } = await setUp();
    expect((await invoke(proxy, 'HEAD', '/proxy', { key: application.key })).status).toBe(200);
    gateway.current.destination.answer = (_request, response) => response.writeHead(204).end();
    expect(await invoke(proxy, 'GET', '/proxy', { key: application.key })).toMatchObject({ status: 204, body: '' });
  });

  test('an upgrade is 501', async () => {
    const { proxy } = await setUp();
    const { request } = await import('node:http');
    const { hostname, port } = new URL(gateway.current.url);
    const status = await new Promise((resolve, reject) => {
      const headers = { 'SVC-PROXY-KEY': proxy.key, Connection: 'Upgrade', Upgrade: 'websocket' };
      request({ hostname, port, path: '/proxy', headers }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
    expect(status).toBe(501);
  });
});

test('no log line holds a key, a proxy key or a value', async () => {
  const { proxy, application, card } = await setUp();
  await invoke(proxy, 'POST', `/proxy?svc-proxy-key=${proxy.key}`, { key: application.key, body: `["{{${card}}}"]` });
  const logged = gateway.current.logLines.join('');
  expect(logged).toContain(proxy.id);
  for (const secret of [proxy.key, application.key, '4242424242424242']) expect(logged).not.toContain(secret);
});
