import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { useStack } from '@sluice/testing';
import { defaultAnswer } from '../testing/test-destination.ts';
import { startTestGateway } from '../testing/test-gateway.ts';
import type { ProxyParts } from '../testing/test-tenant.ts';

/** Work is compared with that of a plain request of the same size, by processor time instead of a clock. */
const gateway = useStack((stack) => startTestGateway(stack, { TRANSFORM_CPU_MS: '8000' }));

afterEach(() => {
  gateway.current.destination.answer = defaultAnswer;
});

const size = 3_000_000;
const form = 'application/x-www-form-urlencoded';
const count = 'module.exports = async ({ args }) => ({ body: { n: 1 } })';
const returning = (result: string) => `module.exports = async ({ args, svc }) => { ${result} }`;

interface Scene extends Omit<ProxyParts, 'destination'> {
  sent?: { type: string; body: string };
  answered?: { type: string; body: string };
  key?: string;
}

const gzipped = ({ type, body }: { type: string; body: string }) => ({
  body: gzipSync(body),
  headers: { 'Content-Type': type, 'Content-Encoding': 'gzip' },
});

/** In microseconds: the minimum of several, because collecting other garbage adds to it. */
async function workOf({ sent, answered, key, ...parts }: Scene): Promise<{ work: number; status: number }> {
  const { tenant, destination, url } = gateway.current;
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false, ...parts });
  if (answered) {
    const { body, headers } = gzipped(answered);
    destination.answer = (_request, response) => response.writeHead(200, headers).end(body);
  } else destination.answer = defaultAnswer;
  const { body, headers } = gzipped(sent ?? { type: 'application/json', body: '{}' });
  const request = {
    method: 'POST',
    body,
    headers: { ...headers, 'SVC-PROXY-KEY': proxy.key, ...(key && { 'SVC-API-KEY': key }) },
  };
  let work = Number.POSITIVE_INFINITY;
  let status = 0;
  for (let round = 0; round <= rounds; round += 1) {
    const before = process.threadCpuUsage();
    const answer = await fetch(`${url}/proxy`, request);
    await answer.arrayBuffer();
    status = answer.status;
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const { user, system } = process.threadCpuUsage(before);
    if (round > 0) work = Math.min(work, user + system); // the first round fills caches
  }
  return { work: Math.max(work, leastWork), status };
}

/** In microseconds; smaller differences cannot be measured. */
const leastWork = 5000;
const rounds = 3;

const text = { type: 'text/plain', body: 'x'.repeat(size) };
const string = { type: 'application/json', body: JSON.stringify('x'.repeat(size)) };
const deep = { type: 'application/json', body: '['.repeat(size / 2) + ']'.repeat(size / 2) };
const members = {
  type: 'application/json',
  body: `{${Array.from({ length: size / 15 }, (_, at) => `"${at * 7919}":1`).join(',')}}`,
};
const emptyPairs = { type: form, body: '=&'.repeat(size / 2) };
const errorsModule = "const { BadRequestError } = require('svc-errors');";

test.each<[what: string, hostile: Scene, plain: Scene]>([
  ['a form of empty pairs', { requestTransform: count, sent: emptyPairs }, { requestTransform: count, sent: text }],
  [
    'a form of empty pairs in an answer',
    { responseTransform: count, answered: emptyPairs },
    { responseTransform: count, answered: text },
  ],
  ['deep JSON', { requestTransform: count, sent: deep }, { requestTransform: count, sent: string }],
  ['JSON of many members', { requestTransform: count, sent: members }, { requestTransform: count, sent: string }],
  [
    'deep JSON in an answer',
    { responseTransform: count, answered: deep },
    { responseTransform: count, answered: string },
  ],
  [
    'a form of many members as a result',
    {
      requestTransform: returning(
        `const body = {}; for (let i = 0; i < 2e5; i += 1) body['a' + i] = 1; return { body, headers: { 'content-type': '${form}' } }`,
      ),
    },
    { requestTransform: returning("return { body: 'x'.repeat(2e6) }") },
  ],
  [
    'many headers as a result',
    {
      requestTransform: returning(
        "const headers = {}; for (let i = 0; i < 1e5; i += 1) headers['a' + i] = '1'; return { headers }",
      ),
    },
    { requestTransform: returning("return { body: 'x'.repeat(1e6) }") },
  ],
  [
    'many lines of one header as a result',
    { responseTransform: returning("return { headers: { a: Array(5e5).fill('') } }") },
    { responseTransform: returning("return { body: 'x'.repeat(1e6) }") },
  ],
  [
    'many field errors',
    {
      requestTransform:
        errorsModule +
        returning(
          "const errors = {}; for (let i = 0; i < 2e5; i += 1) errors['f' + i] = ['x']; throw new BadRequestError({ errors })",
        ),
    },
    { requestTransform: returning("return { body: 'x'.repeat(2e6) }") },
  ],
])('%s takes at most ten times the work of a plain request of its size', async (_, hostile, plain) => {
  const base = await workOf(plain);
  const { work } = await workOf(hostile);
  expect(work / base.work).toBeLessThan(10);
});

const largestBody = 5 * 2 ** 20;
const filters = "| replace: 'a', 'b' ".repeat(10);
const fullOfFilters = (wrap: (text: string) => string, count = 9_000) =>
  Array.from({ length: count }, (_, at) => wrap(`{{ x${at % 50} ${filters}}}`));

/**
 * The longest piece of work, which is the longest time that another Tenant waits for the main thread. Of several rounds
 * the least, because a collection of garbage may fall into any piece.
 */
async function longestPieceOf(invoke: () => Promise<void>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3 && least >= onePass; round += 1) {
    const observed = invoke();
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    void observed.then(end, end);
    let longest = 0;
    while (!isOver) {
      const before = process.threadCpuUsage();
      await new Promise((resolve) => setImmediate(resolve));
      const { user, system } = process.threadCpuUsage(before);
      longest = Math.max(longest, user + system);
    }
    await observed;
    least = Math.min(least, longest);
  }
  return least;
}

function invoking(body: string, type: string | undefined, parts: Partial<ProxyParts> = {}) {
  return async (status: number) => {
    const { tenant, destination, url } = gateway.current;
    const proxy = await tenant.proxy({ destination: destination.url, ...parts });
    const { key } = await tenant.application();
    const headers = { 'SVC-PROXY-KEY': proxy.key, 'SVC-API-KEY': key, ...(type && { 'Content-Type': type }) };
    return async () => {
      // Bytes, because fetch sets a content type for strings
      const answer = await fetch(`${url}/proxy`, { method: 'POST', headers, body: Buffer.from(body) });
      const said = await answer.text();
      if (answer.status !== status) throw new Error(`${answer.status}: ${said.slice(0, 500)}`);
    };
  };
}

/** The time, in microseconds, of reading, decoding and scanning a body of 5 MiB in one pass, with its garbage. */
const onePass = 50_000;

test.each<[string, string | undefined, () => string]>([
  ['JSON', 'application/json', () => JSON.stringify(fullOfFilters((text) => text))],
  ['one string', 'application/json', () => JSON.stringify(fullOfFilters((text) => text).join())],
  ['a form', form, () => `${fullOfFilters((text) => `a=${text}`).join('&')}`],
  ['a form of braces', form, () => `${'a={&'.repeat(largestBody / 10)}a={{x}}`],
  ['text', 'text/plain', () => fullOfFilters((text) => text).join()],
  ['no type', undefined, () => `[${'[],'.repeat(largestBody / 3 - 20)}"{{x}}"]`],
])('expressions of %s are read in pieces, between which others have their turn', async (_, type, bodyOf) => {
  const invoke = await invoking(bodyOf(), type)(400);
  expect(await longestPieceOf(invoke)).toBeLessThan(onePass);
});

test('windows of a streamed body are filled in pieces, however long the values of their filters', async () => {
  const token = await gateway.current.tenant.token({ data: 'x'.repeat(10_000) });
  const windows = `"{{${token}|reveal_last:4|last4}}",`.repeat(3 * 1000);
  const body = `[${windows}${'"plain text",'.repeat(largestBody / 13)}1]`;
  const invoke = await invoking(body, 'application/json')(200);
  expect(await longestPieceOf(invoke)).toBeLessThan(onePass);
});

test('small bodies whose filters go through large values are filled in pieces', async () => {
  const token = await gateway.current.tenant.token({ data: 'x'.repeat(100_000) });
  const body = JSON.stringify(Array(80).fill(`{{${token}|reveal_last:4|last4}}`));
  const invoke = await invoking(body, 'application/json')(200);
  const invokeTogether = async () => {
    await Promise.all(Array.from({ length: 6 }, invoke));
  };
  expect(await longestPieceOf(invokeTogether)).toBeLessThan(onePass);
});

test('what a transform tokenizes is read, encrypted and answered in pieces', async () => {
  const { id } = await gateway.current.tenant.application({ permissions: ['token:create', 'token:read'] });
  const requestTransform = returning(
    'await svc.tokenize(Array.from({ length: 5000 }, (_, at) => "value " + at)); return { body: {} }',
  );
  const invoke = await invoking('{}', 'application/json', { requestTransform, applicationId: id })(200);
  expect(await longestPieceOf(invoke)).toBeLessThan(onePass);
});

test('answers to the calls of a transform are written in pieces, one after another', async () => {
  const { tenant } = gateway.current;
  const { id } = await tenant.application();
  const token = await tenant.token({ data: Array.from({ length: 30_000 }, () => []) });
  const requestTransform = returning(
    `await Promise.all(Array.from({ length: 6 }, () => svc.detokenize(Array(8).fill("{{ ${token} }}")).then(() => 0))); return { body: {} }`,
  );
  const invoke = await invoking('{}', 'application/json', { requestTransform, applicationId: id })(200);
  expect(await longestPieceOf(invoke)).toBeLessThan(onePass);
});

const shredded = (bytes: number) => `${'1\r\nx\r\n'.repeat(bytes)}0\r\n\r\n`;
const shreds = 150_000;

function sendShredded(headers: Record<string, string>): Promise<number> {
  const { hostname, port, host } = new URL(gateway.current.url);
  const { promise, resolve } = Promise.withResolvers<number>();
  const socket = connect(Number(port), hostname);
  const lines = Object.entries({ Host: host, Connection: 'close', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  socket.write(`POST /proxy HTTP/1.1\r\n${lines.join('\r\n')}\r\nTransfer-Encoding: chunked\r\n\r\n`);
  socket.write(shredded(shreds));
  let head = '';
  socket.on('data', (bytes) => {
    if (head === '') head = bytes.toString('latin1');
  });
  socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0)));
  return promise;
}

test.each<[string, Partial<ProxyParts>, string]>([
  ['that is held', { requestTransform: count }, 'text/plain'],
  ['that streams', {}, 'application/octet-stream'],
])('a body of many chunks of one byte %s is read in pieces, on however many connections', async (_, parts, type) => {
  const { tenant, destination } = gateway.current;
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false, ...parts });
  const headers = { 'SVC-PROXY-KEY': proxy.key, 'Content-Type': type };
  const invoke = async () => {
    const statuses = await Promise.all(Array.from({ length: 8 }, () => sendShredded(headers)));
    expect(statuses).toEqual(Array(8).fill(200));
  };
  expect(await longestPieceOf(invoke)).toBeLessThan(onePass);
});
