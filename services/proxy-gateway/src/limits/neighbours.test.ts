import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { call, useStack } from '@sluice/testing';
import { defaultAnswer } from '../testing/test-destination.ts';
import { startTestGateway } from '../testing/test-gateway.ts';
import type { ProxyParts } from '../testing/test-tenant.ts';

const gateway = useStack((stack) => startTestGateway(stack, { TRANSFORM_CPU_MS: '8000' }));

afterEach(() => {
  gateway.current.destination.answer = defaultAnswer;
});

const form = 'application/x-www-form-urlencoded';
const count = 'module.exports = async () => ({ body: { n: 1 } })';
const running = (code: string) => `
  const { BadRequestError } = require('svc-errors');
  module.exports = async ({ args, configuration, svc }) => { ${code} }`;

interface Attack extends Omit<ProxyParts, 'destination'> {
  body?: string;
  type?: string;
  answered?: { type: string; body: string };
}

const emptyPairs = '=&'.repeat(200_000);
const deep = '['.repeat(200_000) + ']'.repeat(200_000);
/** 1,300 short secrets, and printed text that nearly matches one at every position. */
const configuration = Object.fromEntries(
  Array.from({ length: 1300 }, (_, at) => [`S${at}`, (at + 46_656).toString(36).padStart(6, 'q')]),
);
const printed = randomBytes(12_000).toString('hex').slice(0, 16_000);

const attacks: [name: string, attack: Attack][] = [
  ['forms of empty pairs', { requestTransform: count, type: form, body: emptyPairs }],
  ['forms of empty pairs in answers', { responseTransform: count, answered: { type: form, body: emptyPairs } }],
  ['deep JSON', { requestTransform: count, body: deep }],
  ['deep JSON in answers', { responseTransform: count, answered: { type: 'application/json', body: deep } }],
  [
    'console output with many secrets',
    { requestTransform: running(`console.log('${printed}'); return {}`), configuration },
  ],
  [
    'thrown texts with many secrets',
    { requestTransform: running(`throw new BadRequestError('${printed}'.repeat(200))`), configuration },
  ],
  [
    'field errors with many secrets',
    {
      requestTransform: running(`const errors = {};
        for (let i = 0; i < 1e3; i += 1) errors['f' + i] = ['${printed}'];
        throw new BadRequestError({ errors })`),
      configuration,
    },
  ],
  [
    'results that are forms of many members',
    {
      requestTransform: running(
        `const body = {}; for (let i = 0; i < 3e4; i += 1) body['a' + i] = 1; return { body, headers: { 'content-type': '${form}' } }`,
      ),
    },
  ],
  [
    'results of many headers',
    {
      requestTransform: running(
        "const headers = {}; for (let i = 0; i < 1e4; i += 1) headers['a' + i] = '1'; return { headers }",
      ),
    },
  ],
];

const atOnce = 8;

test.each(attacks)('%s: another Tenant is answered before they are', async (_, attack) => {
  const { tenant, stranger, destination, url } = gateway.current;
  const { body = '{}', type = 'application/json', answered, ...parts } = attack;
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false, ...parts });
  const other = await stranger.proxy({ destination: destination.url, requireAuth: false });
  if (answered) {
    const coded = gzipSync(answered.body);
    destination.answer = (request, response) =>
      request.url === '/other'
        ? defaultAnswer(request, response)
        : response.writeHead(200, { 'Content-Type': answered.type, 'Content-Encoding': 'gzip' }).end(coded);
  }
  const coded = gzipSync(body);
  const invoke = async (key: string, path: string, sent: Buffer | string, coding?: string) => {
    const headers = { 'SVC-PROXY-KEY': key, 'Content-Type': type, ...(coding && { 'Content-Encoding': coding }) };
    const answer = await fetch(`${url}/proxy${path}`, { method: 'POST', headers, body: sent });
    await answer.arrayBuffer();
    return answer.status;
  };
  const plain = () => call(url, 'POST', '/proxy/other', { headers: { 'SVC-PROXY-KEY': other.key }, body: '{}' });
  await plain();
  const order: string[] = [];
  const attackers = Array.from({ length: atOnce }, async () => {
    await invoke(proxy.key, '', coded, 'gzip');
    order.push('attacker');
  });
  const { status } = await plain();
  order.push('other');
  await Promise.all(attackers);
  expect(status).toBe(200);
  // Transforms run in parallel, so the first of the attackers may have been short
  expect(order.indexOf('other')).toBeLessThan(atOnce / 2);
});
