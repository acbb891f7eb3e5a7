import { type IncomingHttpHeaders, request } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { PermissionType } from '@sluice/access';
import { eventually, serveHttp, useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';
import type { ProxyParts } from '../testing/test-tenant.ts';

/** What a destination gives back of the values that were put into a request. */
const gateway = useStack((stack) => startTestGateway(stack, { BODY_LIMIT_BYTES: `${256 * 1024}` }));

const secret = 'the-secret/value';

type Mode = 'tokenize' | 'redact' | 'block';

interface Got {
  status: number;
  reason: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
  trailers: NodeJS.Dict<string>;
  isComplete: boolean;
}

interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string | Iterable<Buffer> | AsyncIterable<Buffer>;
  onHead?: () => void;
}

async function setUp(parts: Partial<ProxyParts> & { value?: unknown } = {}) {
  const { value = secret, ...proxyParts } = parts;
  const { tenant, destination } = gateway.current;
  const token = await tenant.token({ data: value as string });
  const { id: applicationId, key } = await tenant.application({ permissions: ['token:use', 'token:read'] });
  const proxy = await tenant.proxy({ destination: destination.url, responseGuard: 'tokenize', ...proxyParts });
  const send = (sent: Sent = {}) => invoke({ 'SVC-PROXY-KEY': proxy.key, 'SVC-API-KEY': key }, sent, token);
  return { token, key, send, proxy, applicationId };
}

async function invoke(keys: Record<string, string>, sent: Sent, token: string): Promise<Got> {
  const { method = 'POST', path = '', headers = {}, body = JSON.stringify({ key: `{{ ${token} }}` }), onHead } = sent;
  const { promise, resolve, reject } = Promise.withResolvers<Got>();
  const outgoing = request(
    `${gateway.current.url}/proxy${path}`,
    { method, headers: { 'content-type': 'application/json', ...keys, ...headers } },
    async (response) => {
      const { statusCode: status = 0, statusMessage: reason, headers } = response;
      onHead?.();
      const chunks: Buffer[] = [];
      try {
        for await (const chunk of response) chunks.push(chunk);
      } catch {
        // The connection was broken off: `isComplete` tells
      }
      const { complete: isComplete, trailers } = response;
      resolve({ status, reason, headers, body: Buffer.concat(chunks).toString(), trailers, isComplete });
    },
  );
  outgoing.on('error', reject);
  if (typeof body === 'string') outgoing.end(method === 'GET' || method === 'HEAD' ? undefined : body);
  else {
    for await (const chunk of body) outgoing.write(chunk);
    outgoing.end();
  }
  return promise;
}

function answers(
  body: string | Buffer,
  {
    status = 200,
    reason = 'OK',
    headers = {},
  }: { status?: number; reason?: string; headers?: Record<string, string> } = {},
) {
  gateway.current.destination.answer = (_request, response) => {
    const length = { 'Content-Length': Buffer.byteLength(body) };
    response.writeHead(status, reason, { 'Content-Type': 'application/json', ...length, ...headers }).end(body);
  };
}

async function rowsOf(proxyId: string, count = 1) {
  const read = async () => {
    const rows = await gateway.current.db
      .selectFrom('audit_log')
      .selectAll()
      .where('entity_id', '=', proxyId)
      .execute();
    return rows.filter(({ detail }) => detail && 'guard_hits' in detail);
  };
  await eventually('the rows of the guard', async () => (await read()).length >= count);
  return read();
}

const echo = (value = secret) => JSON.stringify({ echo: value });

describe('a value that comes back', () => {
  test('without a guard it reaches the caller: the control', async () => {
    const { send } = await setUp({ responseGuard: 'off' });
    answers(echo());
    expect(await send()).toMatchObject({ status: 200, body: echo() });
  });

  test.each<[Mode, (token: string) => string]>([
    ['tokenize', (token) => JSON.stringify({ echo: `{{ ${token} }}` })],
    ['redact', () => JSON.stringify({ echo: '[redacted]' })],
  ])('is replaced: %s', async (responseGuard, expected) => {
    const { send, token } = await setUp({ responseGuard });
    answers(echo(), { headers: { ETag: '"of-the-value"' } });
    const got = await send();
    expect(got).toMatchObject({ status: 200, body: expected(token), isComplete: true });
    expect([got.headers.etag, got.headers['svc-proxy-destination-status']]).toEqual([undefined, '200']);
    expect(Number(got.headers['content-length'])).toBe(Buffer.byteLength(got.body));
  });

  test('is 502 where the guard blocks, without the status of the destination', async () => {
    const { send } = await setUp({ responseGuard: 'block' });
    answers(echo(), { status: 201 });
    const got = await send();
    expect([got.status, got.headers['svc-proxy-destination-status']]).toEqual([502, undefined]);
    const { proxy_error: problem } = JSON.parse(got.body);
    expect(problem).toMatchObject({ type: 'urn:sluice:problem:destination_answer_unusable' });
    expect(problem.destination_status).toBeUndefined();
    expect(got.body).not.toContain(secret);
  });

  test('is 502 where the guard blocks, also if the body comes in pieces with the head', async () => {
    const { send } = await setUp({ responseGuard: 'block' });
    gateway.current.destination.answer = (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/plain' }).write(`<${secret}>`); // and no end
    };
    expect((await send()).status).toBe(502);
  });

  test('breaks the connection where the guard blocks and the head is out', async () => {
    const { send } = await setUp({ responseGuard: 'block' });
    const began = Promise.withResolvers<void>();
    gateway.current.destination.answer = async (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/plain' });
      response.write('harmless beginning ');
      await began.promise;
      response.end(secret);
    };
    const got = await send({ onHead: began.resolve });
    expect([got.status, got.isComplete]).toEqual([200, false]);
    expect(got.body).not.toContain('secret');
  });

  test.each<[string, Parameters<typeof answers>]>([
    ['a header', ['{}', { headers: { 'X-Key': `Bearer ${secret}` } }]],
    ['the name of a header', ['{}', { headers: { 'the-secret%2Fvalue': '1' } }]],
    ['a cookie', ['{}', { headers: { 'Set-Cookie': `key=${encodeURIComponent(secret)}` } }]],
    ['Location', ['', { status: 302, headers: { Location: `/next?key=${encodeURIComponent(secret)}` } }]],
    ['the reason phrase', ['{}', { reason: `Bad ${secret}` }]],
    ['an error', [echo(), { status: 500 }]],
    ['JSON, in escapes', [JSON.stringify(secret).replace('/', '\\/')]],
    ['base64', [`{"basic":"${Buffer.from(`user:${secret}`).toString('base64')}"}`]],
    ['hexadecimal', [`{"hex":"${Buffer.from(secret).toString('hex')}"}`]],
    ['gzip', [gzipSync(echo()), { headers: { 'Content-Encoding': 'gzip' } }]],
    ['text', [secret, { headers: { 'Content-Type': 'text/plain' } }]],
    [
      'binary',
      [Buffer.concat([Buffer.from([0xff, 0]), Buffer.from(secret)]), { headers: { 'Content-Type': 'image/png' } }],
    ],
  ])('is found in %s', async (_, answer) => {
    const { send, proxy } = await setUp({ responseGuard: 'redact' });
    answers(...answer);
    const got = await send();
    const seen = JSON.stringify(got);
    for (const form of [secret, encodeURIComponent(secret), 'secret', Buffer.from(secret).toString('hex')]) {
      expect(seen).not.toContain(form);
    }
    expect(got.isComplete).toBe(true);
    expect(await rowsOf(proxy.id)).toHaveLength(1);
  });

  test('is found in trailers, and across chunks', async () => {
    const { send } = await setUp({ responseGuard: 'redact' });
    gateway.current.destination.answer = async (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/plain', Trailer: 'X-End' });
      for (const character of `<${secret}>`) {
        response.write(character);
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.addTrailers({ 'X-End': secret });
      response.end();
    };
    const got = await send();
    expect([got.body, got.trailers]).toEqual(['<[redacted]>', { 'x-end': '[redacted]' }]);
  });

  test('is found in the answer to HEAD', async () => {
    const { send, token } = await setUp({ responseGuard: 'redact', tokenPlaces: ['query'] });
    answers('', { headers: { 'X-Key': secret, 'Content-Length': '10' } });
    const got = await send({ method: 'HEAD', path: `?key=%7B%7B${token}%7D%7D` });
    expect([got.status, got.headers['x-key'], got.headers['content-length']]).toEqual([200, '[redacted]', '10']);
  });
});

describe('where the protocol makes it hard', () => {
  test.each([205, 404])('the body and trailers of %i hold no value', async (status) => {
    const { send } = await setUp({ responseGuard: 'redact' });
    gateway.current.destination.answer = (_request, response) => {
      response.writeHead(status, { Trailer: 'X-End' });
      response.write(`<${secret}>`);
      response.addTrailers({ 'X-End': secret });
      response.end();
    };
    expect(JSON.stringify(await send())).not.toContain('secret');
  });

  test('a coding in a second line counts', async () => {
    const { send } = await setUp({ responseGuard: 'redact' });
    gateway.current.destination.answer = (_request, response) => {
      response.setHeader('Content-Encoding', ['identity', 'gzip']);
      response.end(gzipSync(echo()));
    };
    expect(await send()).toMatchObject({ status: 200, body: '{"echo":"[redacted]"}' });
  });

  test('bytes behind the end of gzip break the connection off', async () => {
    const { send } = await setUp({ responseGuard: 'redact' });
    gateway.current.destination.answer = (_request, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip' });
      response.write(Buffer.concat([gzipSync('{}'), Buffer.from([0, 1])])); // and never an end
    };
    await expect(send().then(({ isComplete }) => isComplete)).resolves.toBe(false);
  });

  test('the length of an answer to HEAD is not the value', async () => {
    const { send, token } = await setUp({ responseGuard: 'redact', tokenPlaces: ['query'], value: '4242424242' });
    answers('', { headers: { 'Content-Length': '4242424242' } });
    const got = await send({ method: 'HEAD', path: `?key=%7B%7B${token}%7D%7D` });
    expect([got.status, got.headers['content-length']]).toEqual([200, undefined]);
  });

  test('an address on a route is looked through before it is rewritten, and after', async () => {
    const value = 'pa{ss}w ord';
    const { token, key } = await setUp({ responseGuard: 'redact', value, pathName: 'guarded' });
    const { destination } = gateway.current;
    destination.answer = (_request, response) => response.writeHead(302, { Location: `/back/${value}/x` }).end();
    const got = await fetch(`${gateway.current.url}/routes/guarded/a`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/json', 'SVC-API-KEY': key },
      body: JSON.stringify({ key: `{{ ${token} }}` }),
    });
    expect(got.headers.get('location')).toBe('/routes/guarded/back/[redacted]/x');
  });

  test('a caller who leaves a large answer in gzip leaves nothing behind', async () => {
    await using stack = new AsyncDisposableStack();
    const own = await startTestGateway(stack);
    const held = async () => {
      const text = await own.metrics.metrics();
      return Number(/^sluice_body_held_bytes (\d+)/m.exec(text)?.[1]);
    };
    const { tenant, destination } = own;
    const token = await tenant.token({ data: secret });
    const { key } = await tenant.application({ permissions: ['token:use'] });
    const proxy = await tenant.proxy({ destination: destination.url, responseGuard: 'redact' });
    destination.answer = (_request, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(Buffer.alloc(64 * 2 ** 20, 'x')));
    };
    const leaving = request(
      `${own.url}/proxy`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'SVC-PROXY-KEY': proxy.key, 'SVC-API-KEY': key },
      },
      (response) => response.once('readable', () => leaving.destroy()),
    );
    leaving.on('error', () => {}); // it destroys itself
    leaving.end(JSON.stringify({ key: `{{ ${token} }}` }));
    await eventually('the call', () => destination.seen.length === 1);
    await eventually('no memory', async () => leaving.destroyed && (await held()) === 0);
  });
});

describe('what is asked of the destination', () => {
  test('is a whole answer in no coding or gzip', async () => {
    const { send } = await setUp();
    answers('{}');
    await send({ headers: { Range: 'bytes=0-5', 'If-Range': '"x"', 'Accept-Encoding': 'br' } });
    const { headers } = gateway.current.destination.seen.at(-1) ?? {};
    expect([headers?.range, headers?.['if-range'], headers?.['accept-encoding']]).toEqual([
      undefined,
      undefined,
      'gzip, identity',
    ]);
  });

  test.each<[string, Parameters<typeof answers>]>([
    ['a part', ['ecret/value', { status: 206, headers: { 'Content-Range': 'bytes 1-11/16' } }]],
    ['another coding', [brotliCompressSync(echo()), { headers: { 'Content-Encoding': 'br' } }]],
    ['gzip twice', [gzipSync(gzipSync(echo())), { headers: { 'Content-Encoding': 'gzip, gzip' } }]],
  ])('%s is 502', async (_, answer) => {
    const { send } = await setUp();
    answers(...answer);
    const got = await send();
    expect(got.status).toBe(502);
    expect(got.body).not.toContain('ecret/');
  });
});

describe('which values are looked for', () => {
  test('those of headers that the Proxy sets, of its configuration too', async () => {
    const { tenant, destination } = gateway.current;
    const hidden = await tenant.token({ data: 'a hidden value' });
    const owner = await tenant.application({ permissions: ['token:use'] });
    const { send } = await setUp({
      applicationId: owner.id,
      configuration: { KEY: 'configured-key' },
      requestHeaders: { Authorization: `Bearer {{ ${hidden} }}`, 'X-Key': '{{ config: KEY }}' },
    });
    destination.answer = ({ headers }, response) => response.end(`${headers.authorization} ${headers['x-key']}`);
    expect((await send()).body).toBe(`Bearer {{ ${hidden} }} {{ config: KEY }}`);
  });

  test.each<[string, string, string]>([
    ['what a filter made, if it is long enough', "{{ T | append: '-more' }}", 'the-secret/value-more'],
    ['the data, if what a filter made has it', '{{ T | stringify }}', secret],
  ])('%s', async (_, expression, returned) => {
    const { send, token } = await setUp({ responseGuard: 'redact' });
    answers(echo(returned));
    const got = await send({ body: JSON.stringify({ key: expression.replace('T', token) }) });
    expect(got.body).toBe('{"echo":"[redacted]"}');
  });

  test('not the data, if a filter made less of it, because the destination could guess the rest', async () => {
    const { send, token } = await setUp({ responseGuard: 'redact' });
    answers(echo());
    expect((await send({ body: JSON.stringify({ key: `{{ ${token} | last4 }}` }) })).body).toBe(echo());
  });

  test.each<[string, string]>([
    ['detokenize', "({ body: { key: await svc.detokenize('{{ T }}') } })"],
    ['detokenize, with a filter', "({ body: { key: await svc.detokenize('x{{ T | stringify }}') } })"],
    ['tokens.retrieve', "({ body: { key: (await svc.tokens.retrieve('T')).data } })"],
  ])('those that a request transform gets by svc.%s', async (_, result) => {
    const { tenant } = gateway.current;
    const hidden = await tenant.token({ data: secret });
    const permissions: PermissionType[] = ['token:use', 'token:read'];
    const rules = [{ description: 'R', priority: 1, container: '/', transform: 'reveal' as const, permissions }];
    const application = await tenant.application({ permissions: [], rules });
    const { send } = await setUp({
      responseGuard: 'redact',
      value: 'another value',
      applicationId: application.id,
      requestTransform: `module.exports = async ({ svc }) => ${result.replace('T', hidden)};`,
    });
    answers(echo());
    expect((await send()).body).toBe('{"echo":"[redacted]"}');
  });

  test('not those that a response transform gets, because they are for the caller', async () => {
    const { tenant } = gateway.current;
    const shown = await tenant.token({ data: 'shown to the caller' });
    const application = await tenant.application({ permissions: ['token:use'] });
    const { send } = await setUp({
      responseGuard: 'redact',
      applicationId: application.id,
      responseTransform: `module.exports = async ({ args, svc }) => ({ body: { ...args.body, shown: await svc.detokenize('{{ ${shown} }}') } });`,
    });
    answers(echo());
    expect(JSON.parse((await send()).body)).toEqual({ echo: '[redacted]', shown: 'shown to the caller' });
  });

  test('those that come after the answer has begun', async () => {
    const token = await gateway.current.tenant.token({ data: secret });
    await using stack = new AsyncDisposableStack();
    const early = await serveHttp(stack, (incoming, response) => {
      response.writeHead(200, { 'Content-Type': 'text/plain' });
      response.flushHeaders();
      incoming.pipe(response);
    });
    const proxy = await gateway.current.tenant.proxy({ destination: early, responseGuard: 'redact' });
    const { key } = await gateway.current.tenant.application({ permissions: ['token:use'] });
    const filler = Buffer.from(`${JSON.stringify('x'.repeat(8 * 1024))}\n`);
    function* body() {
      for (let at = 0; at < 64; at++) yield filler;
      yield Buffer.from(`"{{ ${token} }}"\n`);
      for (let at = 0; at < 64; at++) yield filler;
    }
    const got = await invoke(
      { 'SVC-PROXY-KEY': proxy.key, 'SVC-API-KEY': key },
      { body: body(), headers: { 'content-type': 'application/x-ndjson' } },
      token,
    );
    expect([got.status, got.isComplete, got.body.includes('secret')]).toEqual([200, true, false]);
    expect(got.body.split('\n').filter((line) => line.includes('redacted'))).toEqual(['"[redacted]"']);
  });
});

describe('answers of code', () => {
  const custom = (stage: 'request' | 'response') => ({
    [`${stage}Transform`]: `const { CustomHttpResponseError } = require('svc-errors');
      module.exports = async ({ args }) => {
        throw new CustomHttpResponseError({ status: 418, body: { got: args.body }, headers: { 'X-Got': JSON.stringify(args.body) } });
      };`,
  });

  test.each(['request', 'response'] as const)(
    'that a %s transform makes of a value are looked through',
    async (stage) => {
      const { send } = await setUp({ responseGuard: 'redact', ...custom(stage) });
      answers(echo());
      const got = await send();
      expect(got.status).toBe(418);
      expect(JSON.stringify(got)).not.toContain('secret');
      expect(got.body).toContain('[redacted]');
    },
  );

  test.each(['request', 'response'] as const)('are 502 where the guard blocks: %s', async (stage) => {
    const { send } = await setUp({ responseGuard: 'block', ...custom(stage) });
    answers(echo());
    const got = await send();
    expect(got.status).toBe(502);
    expect(JSON.stringify(got)).not.toContain('secret');
  });

  test.each<[string, string]>([
    ['an error', 'throw new Error(JSON.stringify(args.body));'],
    ['an error of svc-errors', "throw new (require('svc-errors').BadRequestError)(JSON.stringify(args.body));"],
  ])('%s that code throws with a value is looked through', async (_, statement) => {
    for (const responseGuard of ['tokenize', 'block'] as const) {
      const { send } = await setUp({
        responseGuard,
        requestTransform: `module.exports = async ({ args }) => { ${statement} };`,
      });
      const got = await send();
      expect(got.status).toBeGreaterThanOrEqual(400);
      expect(JSON.stringify(got)).not.toContain('secret');
      JSON.parse(got.body);
    }
  });

  test('what a response transform passes by in gzip is decoded', async () => {
    const { send } = await setUp({
      responseGuard: 'redact',
      responseTransform: 'module.exports = async () => ({});',
    });
    gateway.current.destination.answer = (_request, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(`no JSON: ${secret}`));
    };
    expect((await send()).body).toBe('no JSON: [redacted]');
  });
});

describe('what is said of it', () => {
  test('a row of its own with the tokens and how often, after the row of the disclosure', async () => {
    const { send, token, proxy, applicationId } = await setUp({ responseGuard: 'redact' });
    answers(JSON.stringify([secret, secret]));
    await send();
    const [row] = await rowsOf(proxy.id);
    expect(row).toMatchObject({
      operation: 'use',
      entity_type: 'proxy',
      actor_id: applicationId,
      detail: { token_ids: [token], guard_hits: 2 },
    });
    expect(await gateway.current.metrics.metrics()).toMatch(/^sluice_response_guard_hits_total [1-9]/m);
  });

  test('no row where nothing came back', async () => {
    const { send, proxy } = await setUp();
    answers('{"ok":true}');
    expect((await send()).body).toBe('{"ok":true}');
    const { send: sendMore, proxy: other } = await setUp();
    answers(echo());
    await sendMore();
    await rowsOf(other.id);
    const rows = await gateway.current.db
      .selectFrom('audit_log')
      .selectAll()
      .where('entity_id', '=', proxy.id)
      .execute();
    expect(rows.filter(({ detail }) => detail && 'guard_hits' in detail)).toEqual([]);
  });

  test('more values than can be looked for are 413, and nothing is sent', async () => {
    const { send } = await setUp({ value: 'x'.repeat(65 * 1024) });
    const before = gateway.current.destination.seen.length;
    const got = await send();
    expect([got.status, JSON.parse(got.body).proxy_error.limit ?? JSON.parse(got.body).proxy_error.detail]).toEqual([
      413,
      expect.stringMatching(/guarded_values|response_guard/),
    ]);
    expect(gateway.current.destination.seen.length).toBe(before);
  });
});
