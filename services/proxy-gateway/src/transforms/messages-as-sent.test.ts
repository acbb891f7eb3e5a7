import { type IncomingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { deflateRawSync, deflateSync } from 'node:zlib';
import { eventually, slow, useStack } from '@sluice/testing';
import { defaultAnswer } from '../testing/test-destination.ts';
import { startTestGateway } from '../testing/test-gateway.ts';
import type { ProxyParts, TestProxy } from '../testing/test-tenant.ts';

const gateway = useStack((stack) => startTestGateway(stack));
const identity = 'module.exports = async ({ args }) => ({ body: args.body, headers: args.headers });';
const sameBody = 'module.exports = async ({ args }) => ({ body: args.body });';
const json = ['Content-Type', 'application/json'];

afterEach(() => {
  gateway.current.destination.answer = defaultAnswer;
});

interface Sent {
  headers?: string[];
  body?: string | Buffer;
  method?: string;
  key?: string;
}

const proxies = new Map<string, Promise<TestProxy>>();

function proxyWith(parts: Omit<ProxyParts, 'destination'>): Promise<TestProxy> {
  const { tenant, destination } = gateway.current;
  const name = JSON.stringify(parts);
  const proxy = proxies.get(name) ?? tenant.proxy({ destination: destination.url, requireAuth: false, ...parts });
  proxies.set(name, proxy);
  return proxy;
}

/** By node:http, because `fetch` joins lines of one name. So does node:http those of `Cookie`. */
async function invoke(
  parts: Omit<ProxyParts, 'destination'>,
  { headers = [], body = '', method = 'POST', key }: Sent = {},
) {
  const { url } = gateway.current;
  const proxy = await proxyWith(parts);
  const keys = ['SVC-PROXY-KEY', proxy.key, ...(key === undefined ? [] : ['SVC-API-KEY', key])];
  const lines = ['Host', 'x', ...keys, ...headers, 'Content-Length', `${Buffer.byteLength(body)}`];
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number;
    headers: IncomingHttpHeaders;
    body: string;
  }>();
  request(`${url}/proxy`, { method, headers: lines, agent: false }, (answer) => {
    const { statusCode: status = 0, headers } = answer;
    buffer(answer).then((bytes) => resolve({ status, headers, body: bytes.toString() }), reject);
  })
    .on('error', reject)
    .end(body);
  return promise;
}

function answerWith(body: string | Buffer, headers: string[] = json, status = 200): void {
  gateway.current.destination.answer = (_request, response) => response.writeHead(status, headers).end(body);
}

function lastSeen() {
  const seen = gateway.current.destination.seen.at(-1);
  if (!seen) throw new Error('the destination saw nothing');
  return seen;
}

const valuesOf = (rawHeaders: readonly string[], name: string) =>
  rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);

describe('lines of one name', () => {
  const lines = ['Accept', 'text/plain', 'Accept', 'text/html'];

  test('of a request: lists are joined by commas, and of others the first counts', async () => {
    const once = ['Authorization', 'Bearer 1', 'Authorization', 'Bearer 2', 'User-Agent', 'x', 'User-Agent', 'y'];
    await invoke({ requestTransform: identity }, { headers: [...json, ...lines, ...once], body: '{}' });
    const { rawHeaders } = lastSeen();
    expect(valuesOf(rawHeaders, 'accept')).toEqual(['text/plain, text/html']);
    expect(valuesOf(rawHeaders, 'authorization')).toEqual(['Bearer 1']);
    expect(valuesOf(rawHeaders, 'user-agent')).toEqual(['x']);
  });

  test('of an answer likewise, and its body is read by the first content type', async () => {
    const once = ['Location', '/1', 'Location', '/2', 'Content-Type', 'text/plain', 'Expires', '0', 'Expires', '1'];
    answerWith('{"a":1}', [...json, ...once, 'Vary', 'A', 'Vary', 'B', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']);
    const responseTransform = 'module.exports = async ({ args }) => ({ body: args });';
    const seen = JSON.parse((await invoke({ responseTransform })).body);
    expect(seen.body).toEqual({ a: 1 });
    expect(seen.headers).toMatchObject({
      ...{ location: '/1', 'content-type': 'application/json', expires: '0', vary: 'A, B' },
      'set-cookie': ['a=1', 'b=2'],
    });
  });
});

describe("the caller's address", () => {
  const came = [
    'X-Forwarded-For',
    '10.0.0.7',
    'X-Forwarded-For',
    '192.0.2.1',
    'X-Real-IP',
    '10.0.0.7',
    'Forwarded',
    'for=10.0.0.7',
  ];
  const addresses = () =>
    ['x-forwarded-for', 'x-real-ip', 'forwarded'].flatMap((name) => valuesOf(lastSeen().rawHeaders, name));

  test.each([
    ['returns the body alone', sameBody],
    ['returns the headers as they came', identity],
  ])('does not reach the destination of a transform that %s', async (_, code) => {
    await invoke({ requestTransform: code }, { headers: [...json, ...came], body: '{}' });
    expect(addresses()).toEqual([]);
  });

  test('is what the transform sets, also where none came', async () => {
    const code = `module.exports = async ({ args }) => ({ headers: { ...args.headers, 'X-Forwarded-For': '203.0.113.9' } });`;
    for (const headers of [came, []]) {
      await invoke({ requestTransform: code }, { headers: [...json, ...headers], body: '{}' });
      expect(addresses()).toEqual(['203.0.113.9']);
    }
  });
});

describe('a JSON string at the root', () => {
  const texts = ['"123"', '"OK"', '""', '"a \\"quoted\\" text\\n"', '"{}"'];
  const types = ['application/json', 'application/json; charset=utf-8', 'text/json', 'application/problem+json'];
  const cases = [...texts.map((text) => [text, types[0]]), ...types.map((type) => [texts[0], type])];

  test.each(cases)('%s as %s stays the same through a transform that returns it', async (text = '', type = '') => {
    for (const code of [identity, sameBody]) {
      await invoke({ requestTransform: code }, { headers: ['Content-Type', type], body: text });
      expect(lastSeen()).toMatchObject({ body: text, headers: { 'content-type': type } });
      answerWith(text, ['Content-Type', type]);
      const answer = await invoke({ responseTransform: code });
      expect(answer).toMatchObject({ body: text, headers: { 'content-type': type } });
    }
  });

  test('stays so without a content type', async () => {
    await invoke({ requestTransform: sameBody }, { body: '"OK"' });
    expect(lastSeen().body).toBe('"OK"');
  });

  test('a string in place of an object, and of a string under another type, goes as it is', async () => {
    const text = `module.exports = async () => ({ body: '{"raw":1.0}' });`;
    await invoke({ requestTransform: text }, { headers: json, body: '{"a":1}' });
    expect(lastSeen().body).toBe('{"raw":1.0}');
    const asText = `module.exports = async ({ args }) => ({ body: args.body, headers: { 'content-type': 'text/plain' } });`;
    await invoke({ requestTransform: asText }, { headers: json, body: '"OK"' });
    expect(lastSeen()).toMatchObject({ body: 'OK', headers: { 'content-type': 'text/plain' } });
  });
});

describe('what tells one body from another', () => {
  const former = {
    ...{ etag: '"1"', 'last-modified': 'Wed, 21 Oct 2015 07:28:00 GMT', 'content-md5': 'eA==', digest: 'md5=eA==' },
    ...{ 'content-digest': 'md5=:eA==:', 'repr-digest': 'md5=:eA==:', 'accept-ranges': 'bytes' },
  };
  const lines = [...json, ...Object.entries(former).flat()];
  const names = Object.keys(former);
  const keptOf = (headers: IncomingHttpHeaders) => names.filter((name) => headers[name] !== undefined);
  const onlyHeaders = `module.exports = async ({ args }) => ({ headers: { ...args.headers, 'x-new': '1' } });`;
  const own = `module.exports = async ({ args }) => ({ body: { b: 2 }, headers: { ...args.headers,
    etag: '"2"', 'Content-MD5': 'eQ==', 'LAST-MODIFIED': args.headers['last-modified'] } });`;

  test.each([
    ['whose body the transform returned', sameBody, []],
    ['whose body and headers it returned', identity, []],
    ['that got other values has these', own, ['etag', 'content-md5']],
    ['whose headers alone it returned keeps all', onlyHeaders, names],
  ])('is lost by a message %s', async (_, code, kept) => {
    await invoke({ requestTransform: code }, { headers: lines, body: '{"a":1}' });
    expect(keptOf(lastSeen().headers)).toEqual(kept);
    answerWith('{"a":1}', lines);
    const { headers } = await invoke({ responseTransform: code });
    expect(keptOf(headers)).toEqual(kept);
    if (kept.length === 2) expect(headers.etag).toBe('"2"');
  });

  test('is lost by an answer that was decoded for the transform, because its bytes are others', async () => {
    answerWith(deflateSync('{"a":1}'), [...lines, 'Content-Encoding', 'deflate']);
    const answer = await invoke({ responseTransform: onlyHeaders });
    expect([answer.body, answer.headers['x-new'], keptOf(answer.headers)]).toEqual(['{"a":1}', '1', []]);
  });

  test('is lost by a request that was decoded', async () => {
    const { tenant } = gateway.current;
    const { key } = await tenant.application();
    const headers = [...lines, 'Content-Encoding', 'deflate'];
    await invoke({ requireAuth: true }, { headers, body: deflateSync('{"a":1}'), key });
    expect([lastSeen().body, keptOf(lastSeen().headers)]).toEqual(['{"a":1}', []]);
  });
});

describe('what tells one body from another, where nobody set it anew', () => {
  const md5 = [
    'Content-MD5',
    'eA==',
    'Digest',
    'md5=eA==',
    'Content-Digest',
    'md5=:eA==:',
    'Repr-Digest',
    'md5=:eA==:',
  ];
  const digests = () =>
    ['content-md5', 'digest', 'content-digest', 'repr-digest'].filter((name) => lastSeen().headers[name]);
  const onlyHeaders = `module.exports = async ({ args }) => ({ headers: { ...args.headers, 'x-new': '1' } });`;
  const filling = 'x'.repeat(6 * 1024 * 1024);

  test.each<[string, Omit<ProxyParts, 'destination'>, (token: string) => string]>([
    ['small', {}, (token) => `{"a":"{{ ${token} }}"}`],
    ['of some hundred KiB', {}, (token) => `{"a":"{{ ${token} }}","b":"${filling.slice(0, 300_000)}"}`],
    ['that streams', {}, (token) => `{"a":"{{ ${token} }}","b":"${filling}"}`],
    ['whose transform returns headers alone', { requestTransform: onlyHeaders }, (token) => `{"a":"{{ ${token} }}"}`],
    ['with a quoted text', {}, () => `{"a":"{{ 'value' }}"}`],
  ])('is lost by a body %s that got values', async (_, parts, body) => {
    const { tenant } = gateway.current;
    const { key } = await tenant.application();
    const token = await tenant.token({ data: 'value' });
    await invoke({ requireAuth: true, ...parts }, { headers: [...json, ...md5], body: body(token), key });
    expect(lastSeen().body.slice(0, 12)).toBe('{"a":"value"');
    expect(digests()).toEqual([]);
  });

  test.each<[string, Omit<ProxyParts, 'destination'>]>([
    ['without expressions', {}],
    ['whose transform returns headers alone', { requestTransform: onlyHeaders }],
  ])('the control: a body %s keeps it', async (_, parts) => {
    const { key } = await gateway.current.tenant.application();
    await invoke({ requireAuth: true, ...parts }, { headers: [...json, ...md5], body: '{"a":"value"}', key });
    expect(digests()).toHaveLength(4);
  });

  const throwing = (status: number, more = '') => `const { CustomHttpResponseError } = require('svc-errors');
    module.exports = async ({ args }) => {
      throw new CustomHttpResponseError({ status: ${status}, headers: { ...args.headers, ${more} }, body: { b: 2 } }); };`;
  const validated = [...json, 'ETag', '"1"', ...md5];

  test.each([
    ['the answer', 'responseTransform'],
    ['the request', 'requestTransform'],
  ] as const)('is lost by a CustomHttpResponseError with the headers of %s', async (_, kind) => {
    answerWith('{"a":1}', validated);
    const answer = await invoke({ [kind]: throwing(203) }, { headers: validated, body: '{"a":1}' });
    expect([answer.status, answer.body]).toEqual([203, '{"b":2}']);
    expect(Object.keys(answer.headers).filter((name) => /etag|digest|md5/.test(name))).toEqual([]);
  });

  test('but not what it set itself, and not where the status means the body that the caller has', async () => {
    answerWith('{"a":1}', validated);
    expect((await invoke({ responseTransform: throwing(200, `etag: '"2"'`) })).headers.etag).toBe('"2"');
    expect((await invoke({ responseTransform: throwing(304) })).headers.etag).toBe('"1"');
  });
});

describe.each([
  ['with the header of zlib', deflateSync],
  ['bare', deflateRawSync],
])('deflate %s', (_, deflate) => {
  test.each([7, 100_000])('is decoded, %d characters of a request and of an answer', async (length) => {
    const body = `{"a":"${'x'.repeat(length)}"}`;
    const headers = [...json, 'Content-Encoding', 'deflate'];
    await invoke({ requestTransform: sameBody }, { headers, body: deflate(body) });
    expect(lastSeen()).toMatchObject({ body });
    answerWith(deflate(body), headers);
    expect(await invoke({ responseTransform: sameBody })).toMatchObject({ status: 200, body });
  });

  slow('0.8 s')('is decoded where it streams, and one that is cut off is 400', async () => {
    const { tenant } = gateway.current;
    const { key } = await tenant.application();
    const token = await tenant.token({ data: 'value' });
    const filling = Array.from({ length: 900_000 }, (_, at) => at).join();
    const body = (value: string) => `{"a":"${value}","b":[${filling}]}`;
    const headers = [...json, 'Content-Encoding', 'deflate'];
    const coded = deflate(body(`{{ ${token} }}`));
    expect((await invoke({ requireAuth: true }, { headers, body: coded, key })).status).toBe(200);
    expect(lastSeen().body === body('value')).toBe(true);
    const cut = await invoke({ requireAuth: true }, { headers, body: coded.subarray(0, -1000), key });
    expect(cut.status).toBe(400);
  });
});

describe('a body of 6 MiB without a content type, to a Proxy that asks for a key', () => {
  const filling = 'x'.repeat(6 * 1024 * 1024);
  const send = async (body: string, headers: string[] = []) => {
    const { key } = await gateway.current.tenant.application();
    const answer = await invoke({ requireAuth: true }, { headers, body, key });
    expect(answer.status).toBe(200);
    return lastSeen();
  };

  test.each([
    ['text', filling],
    ['a brace that begins no JSON', `  { x${filling}`],
    ['text that looks like an expression', `{{ x }}${filling}`],
    ['white space without an end', ' '.repeat(filling.length)],
  ])('keeps its length: %s', async (_, body) => {
    const { headers, body: seen } = await send(body);
    expect([headers['content-length'], headers['transfer-encoding']]).toEqual([`${body.length}`, undefined]);
    expect(seen === body).toBe(true);
  });

  test('is searched if it is JSON, so its length cannot be known', async () => {
    const token = await gateway.current.tenant.token({ data: 'value' });
    for (const space of ['', ' '.repeat(20_000)]) {
      const { headers, body } = await send(`${space}{"a":"{{ ${token} }}","b":"${filling}"}`);
      expect([headers['content-length'], headers['transfer-encoding']]).toEqual([undefined, 'chunked']);
      expect(body === `${space}{"a":"value","b":"${filling}"}`).toBe(true);
    }
  });

  test('that is cut off before its beginning is known ends there', async () => {
    const { key } = await gateway.current.tenant.application();
    const proxy = await proxyWith({ requireAuth: true });
    const { seen } = gateway.current.destination;
    const before = seen.length;
    const headers = { 'SVC-PROXY-KEY': proxy.key, 'SVC-API-KEY': key, 'Content-Length': filling.length };
    const outgoing = request(`${gateway.current.url}/proxy`, { method: 'PUT', headers, agent: false });
    const closed = new Promise((resolve) => outgoing.on('close', resolve));
    outgoing.on('error', () => undefined).write('  [ ', () => outgoing.destroy());
    await closed;
    await eventually('the line of the log', () =>
      gateway.current.logLines.some((line) => line.includes('"method":"PUT"') && line.includes('"complete":false')),
    );
    expect(seen.length).toBe(before);
  });
});

describe('a proxy_error tells the status of a destination that has answered', () => {
  test.each([
    ['labelled JSON that is HTML', '<html>', json, 200],
    ['labelled JSON that is HTML, of an error', '<html>', json, 500],
    ['too large', JSON.stringify('x'.repeat(6 * 1024 * 1024)), json, 201],
    ['that does not decode', 'x', [...json, 'Content-Encoding', 'gzip'], 200],
  ])('an answer %s', async (_, body, headers, status) => {
    answerWith(body, headers, status);
    const answer = await invoke({ responseTransform: sameBody });
    expect([answer.status, answer.headers['svc-proxy-destination-status']]).toEqual([502, undefined]);
    expect(JSON.parse(answer.body).proxy_error).toMatchObject({ status: 502, destination_status: status });
  });

  test('and of a transform that throws', async () => {
    const answer = await invoke({ responseTransform: 'module.exports = async () => { throw new Error("no") };' });
    expect(JSON.parse(answer.body).proxy_error).toMatchObject({ status: 500, destination_status: 200 });
  });

  test('the control: before there is an answer there is no such member', async () => {
    const answer = await invoke({ requestTransform: 'module.exports = async () => { throw new Error("no") };' });
    expect(JSON.parse(answer.body).proxy_error).not.toHaveProperty('destination_status');
  });
});

describe('a content type whose parameters follow a blank', () => {
  test.each([
    ['application/json charset=utf-8', (token: string) => `{"a":"{{ ${token} }}"}`, '{"a":"a&b"}'],
    ['application/x-www-form-urlencoded charset=utf-8', (token: string) => `a={{ ${token} }}`, 'a=a%26b'],
  ])('%s is searched, and its transform sees an object', async (type, body, sent) => {
    const { tenant } = gateway.current;
    const { key } = await tenant.application();
    const token = await tenant.token({ data: 'a&b' });
    for (const parts of [{}, { requestTransform: sameBody }, { requestTransform: identity }]) {
      await invoke({ requireAuth: true, ...parts }, { headers: ['Content-Type', type], body: body(token), key });
      expect(lastSeen()).toMatchObject({ body: sent, headers: { 'content-type': type } });
    }
    const kind = `module.exports = async ({ args }) => ({ body: { ...args.body, b: typeof args.body } });`;
    await invoke({ requestTransform: kind }, { headers: ['Content-Type', type], body: sent });
    expect(lastSeen().body).toContain('object');
  });
});
