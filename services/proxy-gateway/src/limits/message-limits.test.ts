import { call, slow, useStack } from '@sluice/testing';
import { defaultAnswer } from '../testing/test-destination.ts';
import { startTestGateway } from '../testing/test-gateway.ts';
import type { ProxyParts } from '../testing/test-tenant.ts';

const gateway = useStack((stack) => startTestGateway(stack, { FORM_MAX_PAIRS: '100', TRANSFORM_CPU_MS: '8000' }));

afterEach(() => {
  gateway.current.destination.answer = defaultAnswer;
});

const form = 'application/x-www-form-urlencoded';
const pairs = (count: number) => Array(count).fill('a=1').join('&');
const module = (body: string) => `module.exports = async ({ args }) => { ${body} }`;
const errors = "const { BadRequestError, CustomHttpResponseError } = require('svc-errors');";

async function invoke(parts: Omit<ProxyParts, 'destination'>, sent: { body?: string; type?: string } = {}) {
  const { tenant, destination, url } = gateway.current;
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false, ...parts });
  const headers = { 'SVC-PROXY-KEY': proxy.key, 'Content-Type': sent.type ?? 'application/json' };
  return call(url, 'POST', '/proxy', { headers, body: sent.body ?? '{}' });
}

function answerWith(body: string, type: string) {
  gateway.current.destination.answer = (_request, response) =>
    response.writeHead(200, { 'Content-Type': type }).end(body);
}

test.each([
  [100, 200],
  [101, 400],
])('a form of %d pairs before a transform is %d', async (count, status) => {
  const requestTransform = module('return { body: args.body }');
  const answer = await invoke({ requestTransform }, { body: pairs(count), type: form });
  expect(answer.status).toBe(status);
  if (status === 400) expect(answer.body.proxy_error.detail).toBe('The form has more than 100 fields');
});

test.each([
  [100, 200],
  [101, 502],
])('a form of %d pairs in an answer is %d', async (count, status) => {
  answerWith(pairs(count), form);
  const answer = await invoke({ responseTransform: module('return { body: args.body }') });
  expect(answer.status).toBe(status);
  if (status === 502) expect(answer.headers.has('svc-proxy-destination-status')).toBe(false);
});

test.each([
  [100, 200],
  [101, 500],
])('a form of %d pairs as a result is %d', async (count, status) => {
  const result = `{ body: { a: Array(${count}).fill(1) }, headers: { 'content-type': '${form}' } }`;
  expect((await invoke({ requestTransform: module(`return ${result}`) })).status).toBe(status);
});

test.each<[what: string, kind: 'requestTransform' | 'responseTransform', headers: string, status: number]>([
  ['100 lines', 'requestTransform', '{ a: Array(100).fill("") }', 200],
  ['101 lines', 'requestTransform', '{ a: Array(101).fill("") }', 500],
  ['101 names', 'requestTransform', 'Object.fromEntries(Array.from({ length: 101 }, (_, i) => ["a" + i, ""]))', 500],
  ['15 KiB', 'requestTransform', '{ a: "x".repeat(15 * 1024) }', 200],
  ['over 16 KiB', 'requestTransform', '{ a: "x".repeat(16 * 1024) }', 500],
  ['101 lines', 'responseTransform', '{ a: Array(101).fill("") }', 500],
  ['over 64 KiB', 'responseTransform', '{ a: "x".repeat(64 * 1024) }', 500],
])('headers of %s out of a %s', async (_, kind, headers, status) => {
  gateway.current.destination.server.maxHeadersCount = 0;
  expect((await invoke({ [kind]: module(`return { headers: ${headers} }`) })).status).toBe(status);
});

test('an answer of a transform’s own has at most as many headers', async () => {
  const requestTransform = `${errors} ${module('throw new CustomHttpResponseError({ status: 200, headers: { a: Array(101).fill("") } })')}`;
  expect((await invoke({ requestTransform })).status).toBe(500);
});

test('of the field errors of a transform the caller gets the first hundred', async () => {
  const fields = 'Object.fromEntries(Array.from({ length: 5000 }, (_, i) => ["f" + i, ["x".repeat(100)]]))';
  const many = await invoke({
    requestTransform: `${errors} ${module(`throw new BadRequestError({ errors: ${fields} })`)}`,
  });
  expect(many.status).toBe(400);
  const told: Record<string, string[]> = many.body.proxy_error.errors;
  expect(Object.keys(told)).toEqual(Array.from({ length: 100 }, (_, at) => `f${at}`));
  const list = await invoke({
    requestTransform: `${errors} ${module('throw new BadRequestError({ errors: { a: Array(5000).fill("x"), b: ["y"] } })')}`,
  });
  expect(list.body.proxy_error.errors).toEqual({ a: Array(100).fill('x') });
});

test('JSON that ends at a NUL is not taken for what stands before it', async () => {
  const requestTransform = module('return { body: args.body }');
  expect((await invoke({ requestTransform }, { body: '{"a":1}\0' })).status).toBe(400);
});

slow('1.2 s')('another Tenant is answered while the body of a transform is read', async () => {
  const { destination, stranger, url } = gateway.current;
  const other = await stranger.proxy({ destination: destination.url, requireAuth: false });
  const requestTransform = module('return { body: { n: 1 } }');
  const members = Array.from({ length: 250_000 }, (_, at) => `"${at * 7919}":1`).join(',');
  const order: string[] = [];
  const hostile = invoke({ requestTransform }, { body: `{${members}}` }).then(() => order.push('hostile'));
  const headers = { 'SVC-PROXY-KEY': other.key };
  await new Promise((resolve) => setTimeout(resolve, 50));
  await call(url, 'POST', '/proxy', { headers, body: '{}' }).then(() => order.push('other'));
  await hostile;
  expect(order).toEqual(['other', 'hostile']);
});

describe('where TRANSFORM_HEADER_LINES is 200', () => {
  const raised = useStack((stack) => startTestGateway(stack, { TRANSFORM_HEADER_LINES: '200' }));

  test.each([
    [199, 200],
    [200, 500],
  ])('a transform may write %d lines beside one of the Proxy: %d', async (lines, status) => {
    const { tenant, destination, url } = raised.current;
    const proxy = await tenant.proxy({
      destination: destination.url,
      requireAuth: false,
      requestHeaders: { 'x-own': 'v' },
      requestTransform: module(`return { headers: { a: Array(${lines}).fill("") } }`),
    });
    const headers = { 'SVC-PROXY-KEY': proxy.key, 'Content-Type': 'application/json' };
    const answer = await call(url, 'POST', '/proxy', { headers, body: '{}' });
    expect(answer.status).toBe(status);
    if (status === 500) expect(answer.body.proxy_error.detail).toContain('more than 200 lines');
  });
});
