import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { slow, useStack } from '@sluice/testing';
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
  /** What the main thread does besides, for each answer. */
  meanwhile?: () => void;
}

const gzipped = ({ type, body }: { type: string; body: string }) => ({
  body: gzipSync(body),
  headers: { 'Content-Type': type, 'Content-Encoding': 'gzip' },
});

/** In microseconds: the minimum of several, because collecting other garbage adds to it. */
async function workOf({ sent, answered, key, meanwhile, ...parts }: Scene): Promise<{ work: number; status: number }> {
  const { tenant, destination, url } = gateway.current;
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false, ...parts });
  if (answered) {
    const { body, headers } = gzipped(answered);
    destination.answer = (_request, response) => {
      response.writeHead(200, headers).end(body);
      meanwhile?.();
    };
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
/** On a busy machine the main thread may pay for what others did to its caches. */
const attempts = 3;

const text = { type: 'text/plain', body: 'x'.repeat(size) };
const string = { type: 'application/json', body: JSON.stringify('x'.repeat(size)) };
const deep = { type: 'application/json', body: '['.repeat(size / 2) + ']'.repeat(size / 2) };
const members = {
  type: 'application/json',
  body: `{${Array.from({ length: size / 15 }, (_, at) => `"${at * 7919}":1`).join(',')}}`,
};
const emptyPairs = { type: form, body: '=&'.repeat(size / 2) };
const errorsModule = "const { BadRequestError } = require('svc-errors');";

slow('1.4 s').each<[what: string, hostile: Scene, plain: Scene]>([
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
  let ratio = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attempts && ratio >= 10; attempt += 1) {
    const base = await workOf(plain);
    const { work } = await workOf(hostile);
    ratio = Math.min(ratio, work / base.work);
  }
  expect(ratio).toBeLessThan(10);
});

slow('2.4 s')('the control: work on the main thread, such as parsing the answer, is found', async () => {
  const base = await workOf({ responseTransform: count, answered: string });
  const { work } = await workOf({ responseTransform: count, answered: string, meanwhile: () => parse(deep.body) });
  expect(work / base.work).toBeGreaterThan(10);
});

function parse(text: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
}

const largestBody = 5 * 2 ** 20;
const filters = "| replace: 'a', 'b' ".repeat(10);
const fullOfFilters = (wrap: (text: string) => string, count = 9_000) =>
  Array.from({ length: count }, (_, at) => wrap(`{{ x${at % 50} ${filters}}}`));

/** A turn of the event loop with less work, in microseconds, is one that only waits. */
const leastOfPiece = 100;

interface Work {
  /** In microseconds: the longest time that another Tenant waits for the main thread. */
  longest: number;
  all: number;
}

/** What the main thread does in each turn of the event loop, by processor time instead of a clock. */
async function observe(invoke: () => Promise<void>, inOnePiece?: () => void): Promise<Work> {
  const work = { longest: 0, all: 0 };
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  const observed = invoke();
  void observed.then(end, end);
  if (inOnePiece) setImmediate(inOnePiece);
  while (!isOver) {
    const before = process.threadCpuUsage();
    await new Promise((resolve) => setImmediate(resolve));
    const { user, system } = process.threadCpuUsage(before);
    work.longest = Math.max(work.longest, user + system);
    if (user + system >= leastOfPiece) work.all += user + system;
  }
  await observed;
  return work;
}

/** Far from what pieces of a millisecond are, and from all of the work in one. */
const mostOfWork = 1 / 4;
const isInPieces = ({ longest, all }: Work) => longest < all * mostOfWork;

/** Of several rounds the best, because a collection of garbage may fall into any piece. */
async function bestOf(rounds: number, invoke: () => Promise<void>, isGood = isInPieces): Promise<Work> {
  const work = await observe(invoke);
  return rounds === 1 || isGood(work) ? work : bestOf(rounds - 1, invoke, isGood);
}

async function expectPieces(invoke: () => Promise<void>): Promise<void> {
  const work = await bestOf(3, invoke);
  expect(work.longest).toBeLessThan(work.all * mostOfWork);
  // The control: more work than all of it, done at once, is found
  expect(isInPieces(await observe(invoke, () => workFor(2 * work.all)))).toBe(false);
}

function workFor(microseconds: number): void {
  const before = process.threadCpuUsage();
  for (let used = 0; used < microseconds; ) {
    const { user, system } = process.threadCpuUsage(before);
    used = user + system;
  }
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

slow('1.6 s').each<[string, string | undefined, () => string]>([
  ['JSON', 'application/json', () => JSON.stringify(fullOfFilters((text) => text))],
  ['one string', 'application/json', () => JSON.stringify(fullOfFilters((text) => text).join())],
  ['a form', form, () => `${fullOfFilters((text) => `a=${text}`).join('&')}`],
  ['a form of braces', form, () => `${'a={&'.repeat(largestBody / 10)}a={{x}}`],
  ['text', 'text/plain', () => fullOfFilters((text) => text).join()],
  ['no type', undefined, () => `[${'[],'.repeat(largestBody / 3 - 20)}"{{x}}"]`],
])('expressions of %s are read in pieces, between which others have their turn', async (_, type, bodyOf) => {
  const invoke = await invoking(bodyOf(), type)(400);
  await expectPieces(invoke);
});

slow('1.6 s')('windows of a streamed body are filled in pieces, however long the values of their filters', async () => {
  const token = await gateway.current.tenant.token({ data: 'x'.repeat(10_000) });
  const windows = `"{{${token}|reveal_last:4|last4}}",`.repeat(3 * 1000);
  const body = `[${windows}${'"plain text",'.repeat(largestBody / 13)}1]`;
  const invoke = await invoking(body, 'application/json')(200);
  await expectPieces(invoke);
});

slow('0.5 s')('a small body whose filters go through large values is filled in pieces', async () => {
  const token = await gateway.current.tenant.token({ data: 'x'.repeat(100_000) });
  const body = JSON.stringify(Array(80).fill(`{{${token}|reveal_last:4|last4}}`));
  const invoke = await invoking(body, 'application/json')(200);
  await expectPieces(invoke);
});

slow('2.3 s')('what a transform tokenizes is read, encrypted and answered in pieces', async () => {
  const { id } = await gateway.current.tenant.application({ permissions: ['token:create', 'token:read'] });
  const requestTransform = returning(
    'await svc.tokenize(Array.from({ length: 5000 }, (_, at) => "value " + at)); return { body: {} }',
  );
  const invoke = await invoking('{}', 'application/json', { requestTransform, applicationId: id })(200);
  await expectPieces(invoke);
});

slow('1.1 s')('what the call of a transform is answered is written in pieces', async () => {
  const { tenant } = gateway.current;
  const { id } = await tenant.application();
  const token = await tenant.token({ data: Array.from({ length: 30_000 }, () => []) });
  const requestTransform = returning(`await svc.detokenize(Array(8).fill("{{ ${token} }}")); return { body: {} }`);
  const invoke = await invoking('{}', 'application/json', { requestTransform, applicationId: id })(200);
  await expectPieces(invoke);
});

slow('1.4 s').each([
  ['application/json', 502],
  ['', 200],
])(
  'five million opened arrays in an answer of the type "%s" are not walked before the transform',
  async (type, status) => {
    const { destination } = gateway.current;
    const opened = '['.repeat(5_000_000);
    destination.answer = (_request, response) =>
      response.writeHead(200, type === '' ? {} : { 'Content-Type': type }).end(opened);
    const invoke = await invoking('{}', 'application/json', { responseTransform: count })(status);
    await expectNoWalk(invoke, () => parse(opened));
  },
);

slow('2.9 s').each([
  [1_700_000, 500],
  [50_000, 200],
])('%d lists that a transform passes to a call are not walked in one piece', async (lists, status) => {
  const { id } = await gateway.current.tenant.application();
  const requestTransform = returning(`await svc.detokenize(Array(${lists}).fill([])); return { body: {} }`);
  const invoke = await invoking('{}', 'application/json', { requestTransform, applicationId: id })(status);
  const most = JSON.stringify(Array(1_700_000).fill([]));
  await expectNoWalk(invoke, () => parse(most));
});

async function expectNoWalk(invoke: () => Promise<void>, walk: () => void): Promise<void> {
  await invoke(); // fills caches
  const { longest: walked } = await observe(async () => undefined, walk);
  const isShort = ({ longest }: Work) => longest < walked / 4;
  expect(isShort(await bestOf(3, invoke, isShort))).toBe(true);
  // The control
  expect(isShort(await observe(invoke, walk))).toBe(false);
}

const shreds = 50_000;
const shredded = `${'1\r\nx\r\n'.repeat(shreds)}0\r\n\r\n`;

function sendShredded(url: string, headers: Record<string, string>): Promise<number> {
  const { hostname, port, host } = new URL(url);
  const { promise, resolve } = Promise.withResolvers<number>();
  const socket = connect(Number(port), hostname);
  const lines = Object.entries({ Host: host, Connection: 'close', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  socket.write(`POST /proxy HTTP/1.1\r\n${lines.join('\r\n')}\r\nTransfer-Encoding: chunked\r\n\r\n`);
  socket.write(shredded);
  let head = '';
  socket.on('data', (bytes) => {
    if (head === '') head = bytes.toString('latin1');
  });
  socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0)));
  return promise;
}

const connections = 16;

const sendingShreds =
  (url: string, headers: Record<string, string> = {}) =>
  async () => {
    const statuses = await Promise.all(Array.from({ length: connections }, () => sendShredded(url, headers)));
    expect(statuses).toEqual(Array(connections).fill(200));
  };

/** Reads from all connections in one turn of the event loop, as the gateway would. */
async function workWithoutTurns(): Promise<Work> {
  await using stack = new AsyncDisposableStack();
  const server = createServer((request, response) => request.resume().on('end', () => response.end()));
  stack.defer(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return await observe(sendingShreds(`http://127.0.0.1:${port}`));
}

slow('4.0 s').each<[string, Partial<ProxyParts>, string]>([
  ['that is held', { requestTransform: count }, 'text/plain'],
  ['that streams', {}, 'application/octet-stream'],
])('a body of many chunks of one byte %s is read in pieces, on however many connections', async (_, parts, type) => {
  const { tenant, destination, url } = gateway.current;
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false, ...parts });
  const headers = { 'SVC-PROXY-KEY': proxy.key, 'Content-Type': type };
  const { longest: most } = await workWithoutTurns();
  const isShort = ({ longest }: Work) => longest < most / 2;
  expect(isShort(await bestOf(3, sendingShreds(url, headers), isShort))).toBe(true);
});
