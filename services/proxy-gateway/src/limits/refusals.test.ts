import { gzipSync } from 'node:zlib';
import { useStack } from '@sluice/testing';
import { defaultAnswer } from '../testing/test-destination.ts';
import { startTestGateway } from '../testing/test-gateway.ts';
import type { ProxyParts } from '../testing/test-tenant.ts';

const gateway = useStack(async (stack) => {
  const settings = {
    ...{ BODY_MAX_EXPRESSIONS: '12000', FORM_MAX_PAIRS: '100', BODY_LIMIT_BYTES: String(1024 * 1024) },
    ...{ TRANSFORM_FIELD_ERRORS: '3', DESTINATION_HEADER_BYTES: String(4 * 1024) },
  };
  const opened = await startTestGateway(stack, settings);
  return { ...opened, ...(await opened.startAnother()) };
});

afterEach(() => {
  gateway.current.destination.answer = defaultAnswer;
});

const module = (body: string) => `module.exports = async ({ args, svc }) => { ${body} }`;
const echo = { requestTransform: module('return { body: args.body }') };
const throwing = (fields: number) =>
  `const { BadRequestError } = require('svc-errors');
  ${module(`throw new BadRequestError({ errors: { a: Array(${fields}).fill('x') } })`)}`;
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const multipart = { 'Content-Type': 'multipart/form-data; boundary=b' };
const parts = (token: string, count: number) =>
  `${`--b\r\nContent-Disposition: form-data; name=a\r\n\r\n{{${token}}}\r\n`.repeat(count)}--b--`;
const headers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`h${at}`, 'x']));
const pairs = (count: number) => Array(count).fill('a=1').join('&');
const names = (count: number) => JSON.stringify(Array.from({ length: count }, (_, at) => `{{none-${at}}}`));
const expressions = (token: string, count: number) => JSON.stringify([`{{${token}|last4}}`.repeat(count)]);

interface Sent {
  headers?: Record<string, string>;
  body?: string | Buffer;
}

async function invoke(parts: Omit<ProxyParts, 'destination'>, { headers = {}, body = '{}' }: Sent = {}) {
  const { tenant, destination, url } = gateway.current;
  const { id: applicationId, key } = await tenant.application();
  const proxy = await tenant.proxy({ destination: destination.url, applicationId, ...parts });
  const own = { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxy.key, 'Content-Type': 'application/json' };
  const answer = await fetch(`${url}/proxy`, { method: 'POST', headers: { ...own, ...headers }, body });
  const told = (await answer.json()) as { proxy_error?: { errors?: object } };
  return { status: answer.status, body: told };
}

async function refused(): Promise<Record<string, number>> {
  const text = await gateway.current.metrics.metrics();
  const lines = text.matchAll(/^sluice_limit_refusals_total\{limit="(\w+)"[^}]*\} (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, limit = '', count]) => [limit, Number(count)]));
}

function answered(headers: Record<string, string>) {
  gateway.current.destination.answer = (_request, response) =>
    response.writeHead(200, { 'Content-Type': 'application/json', ...headers }).end('{}');
  return invoke({});
}

/** Through a transform, which sees the answer as a whole. */
function answeredWith(characters: number) {
  gateway.current.destination.answer = (_request, response) =>
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify('x'.repeat(characters)));
  return invoke({ responseTransform: module('return {}') });
}

type Attack = (token: string) => Promise<{ status: number }>;

test.each<[limit: string, status: number, beyond: Attack, within: Attack]>([
  [
    'expressions',
    400,
    (token) => invoke({}, { body: expressions(token, 12_001) }),
    (token) => invoke({}, { body: expressions(token, 11_000) }),
  ],
  [
    'expressions',
    200,
    () => invoke({ requestTransform: module("await svc.detokenize('{{'.repeat(12_001)).catch(() => 0); return {}") }),
    () => invoke({ requestTransform: module("await svc.detokenize('{{'.repeat(10)).catch(() => 0); return {}") }),
  ],
  [
    'form_pairs',
    400,
    () => invoke(echo, { headers: form, body: pairs(101) }),
    () => invoke(echo, { headers: form, body: pairs(100) }),
  ],
  [
    'headers',
    500,
    () => invoke({ requestTransform: module('return { headers: { a: Array(101).fill("") } }') }),
    () => invoke({ requestTransform: module('return { headers: { a: Array(100).fill("") } }') }),
  ],
  ['headers', 502, () => answered({ a: 'x'.repeat(5 * 1024) }), () => answered({ a: 'x'.repeat(3 * 1024) })],
  ['headers', 431, () => invoke({}, { headers: headers(100) }), () => invoke({}, { headers: headers(80) })],
  ['tokens', 400, () => invoke({}, { body: names(101) }), () => invoke({}, { body: names(100) })],
  [
    'form_parts',
    400,
    (token) => invoke({}, { headers: multipart, body: parts(token, 10_001) }),
    (token) => invoke({}, { headers: multipart, body: parts(token, 9_000) }),
  ],
  [
    'field_size',
    413,
    (token) => invoke({}, { body: JSON.stringify(`{{${token}}}${'x'.repeat(2_000_000)}`) }),
    (token) => invoke({}, { body: JSON.stringify([`{{${token}}}`, 'x'.repeat(2_000_000)]) }),
  ],
  [
    'field_size',
    413,
    (token) => invoke({}, { headers: multipart, body: parts(`${token}}}${'x'.repeat(2_000_000)}{{${token}`, 1) }),
    (token) => invoke({}, { headers: multipart, body: parts(token, 1) }),
  ],
  ['body_size', 502, () => answeredWith(1_100_000), () => answeredWith(1_000_000)],
  [
    'content_codings',
    415,
    () => invoke(echo, { headers: { 'Content-Encoding': 'gzip, gzip' }, body: gzipSync(gzipSync('{}')) }),
    () => invoke(echo, { headers: { 'Content-Encoding': 'gzip' }, body: gzipSync('{}') }),
  ],
  [
    'body_size',
    413,
    () =>
      invoke(echo, { headers: { 'Content-Encoding': 'gzip' }, body: gzipSync(JSON.stringify('x'.repeat(1_100_000))) }),
    () =>
      invoke(echo, { headers: { 'Content-Encoding': 'gzip' }, body: gzipSync(JSON.stringify('x'.repeat(1_000_000))) }),
  ],
  [
    'field_errors',
    400,
    () => invoke({ requestTransform: throwing(4) }),
    () => invoke({ requestTransform: throwing(3) }),
  ],
  [
    'loop',
    508,
    () => invoke({}, { headers: { 'CDN-Loop': 'sluice, sluice, sluice, sluice' } }),
    () => invoke({}, { headers: { 'CDN-Loop': 'sluice, sluice, sluice' } }),
  ],
])(
  'what is beyond the limit of %s is counted (%d), and what is within it is not',
  async (limit, status, beyond, within) => {
    const token = await gateway.current.tenant.token({ data: 'v' });
    const before = await refused();
    await within(token);
    expect(await refused()).toEqual(before);
    expect((await beyond(token)).status).toBe(status);
    expect(await refused()).toEqual({ ...before, [limit]: (before[limit] ?? 0) + 1 });
  },
);

test('of field errors the caller gets as many as the setting says', async () => {
  expect((await invoke({ requestTransform: throwing(9) })).body.proxy_error?.errors).toEqual({ a: ['x', 'x', 'x'] });
});
