import { gzipSync } from 'node:zlib';
import { useStack } from '@sluice/testing';
import { shareTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => shareTestGateway(stack));
const echo = 'module.exports = async ({ args }) => ({ body: args.body })';

async function send(body: Buffer, coding: string, parts: { requestTransform?: string; responseTransform?: string }) {
  const { tenant, destination, url } = gateway.current;
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false, ...parts });
  const headers = { 'SVC-PROXY-KEY': proxy.key, 'Content-Type': 'application/json', 'Content-Encoding': coding };
  const answer = await fetch(`${url}/proxy`, { method: 'POST', headers, body });
  return { status: answer.status, text: await answer.text() };
}

const once = gzipSync('{"a":1}');
const twice = gzipSync(once);

test.each([
  ['gzip', once, 200],
  ['gzip, gzip', twice, 415],
  ['identity, gzip', once, 200],
])('a request coded %s is %d where it is read', async (coding, body, status) => {
  expect((await send(body, coding, { requestTransform: echo })).status).toBe(status);
});

test.each([
  ['gzip', once, 200],
  ['gzip, gzip', twice, 502],
  ['zebra', once, 502],
  ['br', once, 502],
  ['gzip', gzipSync(Buffer.alloc(6 * 1024 * 1024, 0x20)), 502],
])('an answer coded %s is %d where it is read', async (coding, body, status) => {
  gateway.current.destination.answer = (_request, response) =>
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': coding }).end(body);
  const { tenant, destination, url } = gateway.current;
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false, responseTransform: echo });
  const answer = await fetch(`${url}/proxy`, { headers: { 'SVC-PROXY-KEY': proxy.key } });
  expect(answer.status).toBe(status);
});

test('several codings pass where nobody reads the body', async () => {
  expect((await send(twice, 'gzip, gzip', {})).status).toBe(200);
});
