import { connect } from 'node:net';
import { call, useStack } from '@sluice/testing';
import { shareTestGateway } from '../testing/test-gateway.ts';
import type { ProxyParts } from '../testing/test-tenant.ts';

const gateway = useStack((stack) => shareTestGateway(stack));

const withoutBody = (keyLine: string) => `GET /proxy HTTP/1.1\r\nHost: x\r\n${keyLine}Connection: close\r\n\r\n`;

async function invokeRaw(
  parts: Omit<ProxyParts, 'destination'>,
  request: (keyLine: string) => string = withoutBody,
): Promise<string> {
  const { tenant, destination, url } = gateway.current;
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false, ...parts });
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => {
      socket.write(request(`SVC-PROXY-KEY: ${proxy.key}\r\n`));
    });
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('close', () => resolve(text));
  });
}

const framing = `{
  'transfer-encoding': 'chunked', 'content-length': '1', 'content-encoding': 'gzip', trailer: 'x', te: 'trailers',
  connection: 'upgrade, x-nominated', 'keep-alive': 'timeout=9', upgrade: 'x', 'x-nominated': '1',
  'svc-proxy-destination-status': '999', 'svc-trace-id': 'forged', 'x-kept': '1'
}`;

const transforms: [string, Omit<ProxyParts, 'destination'>][] = [
  [
    'a response transform',
    { responseTransform: `module.exports = async () => ({ body: { a: 1 }, headers: ${framing} })` },
  ],
  [
    'a custom response',
    {
      requestTransform: `const { CustomHttpResponseError } = require('svc-errors');
        module.exports = async () => {
          throw new CustomHttpResponseError({ status: 200, headers: ${framing}, body: { a: 1 } });
        }`,
    },
  ],
];

test.each(transforms)(
  'whatever headers %s returns, the framing and the headers of our prefix are ours',
  async (_, parts) => {
    const [head = '', body] = (await invokeRaw(parts)).split('\r\n\r\n');
    const names = head.split('\r\n').map((line) => line.split(':', 1)[0]?.toLowerCase());
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    expect(head).toContain('Content-Length: 7');
    expect(head.toLowerCase()).toContain('x-kept: 1');
    expect(head.toLowerCase()).toContain('connection: close');
    expect(head).not.toMatch(/forged|: 999\r|chunked|gzip|upgrade/);
    for (const name of ['trailer', 'te', 'keep-alive', 'x-nominated']) expect(names).not.toContain(name);
    expect(body).toBe('{"a":1}');
  },
);

test.each([
  ['application/json', '{"a":1}', '{"a":1,"added":"é"}'],
  ['application/x-www-form-urlencoded', 'a=1', 'a=1&added=%C3%A9'],
])(
  'a body of %s that only a transform wrote is framed and formed right, though Connection nominates its type',
  async (type, body, expected) => {
    const code = `module.exports = async ({ args }) => ({ body: { ...args.body, added: 'é' } })`;
    const request = (keyLine: string) =>
      `POST /proxy HTTP/1.1\r\nHost: x\r\n${keyLine}Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n` +
      `Connection: close, content-type, content-length\r\n\r\n${body}`;
    expect(await invokeRaw({ requestTransform: code }, request)).toMatch(/^HTTP\/1\.1 200 /);
    const seen = gateway.current.destination.seen.at(-1);
    expect(seen?.body).toBe(expected);
    expect(seen?.headers).toMatchObject({ 'content-length': `${Buffer.byteLength(expected)}` });
    expect(seen?.headers).not.toHaveProperty('content-type');
  },
);

test('what Connection nominates is lost of what the client sent, and not of what a transform sets', async () => {
  const code = `module.exports = async ({ args, configuration }) => ({
    body: { seen: args.headers },
    headers: { ...args.headers, authorization: 'Bearer ours', 'x-merchant': configuration.merchant },
  })`;
  const request = (keyLine: string) =>
    `POST /proxy HTTP/1.1\r\nHost: x\r\n${keyLine}Connection: close, authorization, x-merchant, x-inner\r\n` +
    'Authorization: Bearer theirs\r\nX-Inner: 1\r\nX-Kept: 1\r\nTE: trailers\r\nKeep-Alive: timeout=9\r\n' +
    'Proxy-Authorization: Basic x\r\nSVC-TRACE-ID: t-1\r\nContent-Type: application/json\r\n' +
    'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n';
  const parts = { requestTransform: code, configuration: { merchant: 'm-1' } };
  expect(await invokeRaw(parts, request)).toMatch(/^HTTP\/1\.1 200 /);
  const seen = gateway.current.destination.seen.at(-1);
  expect(seen?.headers).toMatchObject({ authorization: 'Bearer ours', 'x-merchant': 'm-1', 'x-kept': '1' });
  for (const name of ['x-inner', 'te', 'proxy-authorization']) expect(seen?.headers).not.toHaveProperty(name);
  expect(JSON.parse(seen?.body ?? '').seen).toEqual({
    host: 'x',
    'x-kept': '1',
    'svc-trace-id': 't-1',
    'content-type': 'application/json',
  });
});

test('the type of a body that only a transform wrote is ours, though Connection nominates it', async () => {
  const code = 'module.exports = async () => ({ body: { a: 1 } })';
  const request = (keyLine: string) =>
    `POST /proxy HTTP/1.1\r\nHost: x\r\n${keyLine}Connection: close, content-type\r\n\r\n`;
  expect(await invokeRaw({ requestTransform: code }, request)).toMatch(/^HTTP\/1\.1 200 /);
  expect(gateway.current.destination.seen.at(-1)?.headers).toMatchObject({ 'content-type': 'application/json' });
});

test('a Connection header that a request transform returns removes nothing', async () => {
  const code = `module.exports = async () => ({ headers: ${framing} })`;
  expect(await invokeRaw({ requestTransform: code })).toMatch(/^HTTP\/1\.1 200 /);
  const { headers } = gateway.current.destination.seen.at(-1) ?? {};
  expect(headers).toMatchObject({ 'x-nominated': '1', 'x-kept': '1' });
  for (const name of ['trailer', 'te', 'keep-alive', 'upgrade']) expect(headers).not.toHaveProperty(name);
});

test.each([
  [
    'of a transform are one, joined as RFC 6265 joins them',
    'async ({ args }) => args.headers.cookie && { headers: args.headers }',
  ],
  ['pass as they came without one', undefined],
])('two lines of Cookie %s', async (_, code) => {
  const request = (keyLine: string) =>
    `GET /proxy HTTP/1.1\r\nHost: x\r\n${keyLine}Connection: close\r\nCookie: a=1\r\ncookie: b=2; c=3\r\n\r\n`;
  const parts = code === undefined ? {} : { requestTransform: `module.exports = ${code};` };
  expect(await invokeRaw(parts, request)).toMatch(/^HTTP\/1\.1 200 /);
  const { rawHeaders = [] } = gateway.current.destination.seen.at(-1) ?? {};
  const lines = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'cookie');
  expect(lines).toEqual(code === undefined ? ['a=1', 'b=2; c=3'] : ['a=1; b=2; c=3']);
});

test('a response transform that returns a Trailer header does not end the process', async () => {
  const code = `module.exports = async () => ({ headers: { trailer: 'x' } })`;
  expect(await invokeRaw({ responseTransform: code })).toMatch(/^HTTP\/1\.1 200 /);
  expect((await call(gateway.current.url, 'GET', '/proxy')).status).toBe(400);
});

test('an answer that is not the JSON that it says is not the caller’s fault', async () => {
  gateway.current.destination.answer = (_request, response) =>
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"card": 42424242 4242');
  const text = await invokeRaw({ responseTransform: 'module.exports = async () => ({})' });
  expect(text).toMatch(/^HTTP\/1\.1 502 /);
  expect(text).not.toContain('42424242');
});
