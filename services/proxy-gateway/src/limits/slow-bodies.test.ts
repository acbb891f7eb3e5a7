import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { call, eventually, slow, useStack } from '@sluice/testing';
import { defaultAnswer } from '../testing/test-destination.ts';
import { startTestGateway } from '../testing/test-gateway.ts';

const mebibyte = 2 ** 20;
const keep = 'module.exports = async () => ({})';
const gateway = useStack((stack) =>
  startTestGateway(stack, {
    BODY_HELD_BYTES: `${32 * mebibyte}`,
    BODY_WAIT_MS: '10000',
    TRANSFORM_OUTPUT_BYTES: `${mebibyte / 4}`,
  }),
);
const hasty = useStack((stack) => startTestGateway(stack, { BODY_TIMEOUT_MS: '300' }));

type Gateway = typeof gateway.current;

function sendInParts({ url }: Gateway, proxyKey: string, { part, coding }: { part: Buffer; coding?: string }) {
  const headers = {
    'SVC-PROXY-KEY': proxyKey,
    'SVC-API-KEY': 'none',
    'Content-Type': 'text/plain',
    ...(coding && { 'Content-Encoding': coding }),
  };
  const sent = request(`${url}/proxy`, { method: 'POST', headers });
  const status = new Promise<number>((resolve) => {
    sent.on('response', (answer) => resolve(answer.resume().statusCode ?? 0));
  });
  sent.on('error', () => {});
  sent.write(part);
  return { status, end: (rest: string) => sent.end(rest), leave: () => sent.destroy() };
}

async function floodWith({ createTenant, destination }: Gateway, send: (proxyKey: string) => void): Promise<void> {
  for (let tenants = 0; tenants < 3; tenants += 1) {
    const hostile = await createTenant();
    const proxy = await hostile.proxy({ destination: destination.url, requireAuth: false, requestTransform: keep });
    for (let requests = 0; requests < 3; requests += 1) send(proxy.key);
  }
}

async function othersOf({ stranger, destination, url }: Gateway) {
  const parts = { destination: destination.url, requireAuth: false };
  const [first, second] = await Promise.all([
    stranger.proxy({ ...parts, requestTransform: keep }),
    stranger.proxy({ ...parts, responseTransform: keep }),
  ]);
  const ask = async (key: string, body: string) =>
    (await call(url, 'POST', '/proxy', { headers: { 'SVC-PROXY-KEY': key }, body })).status;
  return () => Promise.all([ask(first.key, JSON.stringify('x'.repeat(16_384))), ask(second.key, '{}')]);
}

test('bodies of three Tenants that do not come hold nothing: another Tenant has its request and its answer', async () => {
  const askOthers = await othersOf(gateway.current);
  await askOthers();
  const slow: ReturnType<typeof sendInParts>[] = [];
  const part = gzipSync('x'.repeat(1000)).subarray(0, 12);
  await floodWith(gateway.current, (key) => slow.push(sendInParts(gateway.current, key, { part, coding: 'gzip' })));
  for (let round = 0; round < 10; round += 1) expect(await askOthers()).toEqual([200, 200]);
  for (const { leave } of slow) leave();
});

slow('1.3 s')(
  'bodies of three Tenants that are held, whose answers do not come, leave another Tenant its part',
  async () => {
    const { destination, url } = gateway.current;
    const askOthers = await othersOf(gateway.current);
    await askOthers();
    const held = Promise.withResolvers<void>();
    let heldCount = 0;
    destination.answer = (received, response) => {
      if (Number(received.headers['content-length']) < 100_000) return defaultAnswer(received, response);
      heldCount += 1;
      return held.promise.then(() => defaultAnswer(received, response));
    };
    const bodies: Promise<number>[] = [];
    const body = JSON.stringify('x'.repeat(mebibyte));
    await floodWith(gateway.current, (key) => {
      const headers = { 'SVC-PROXY-KEY': key };
      bodies.push(call(url, 'POST', '/proxy', { headers, body }).then(({ status }) => status));
    });
    await eventually('bodies that are held', () => heldCount >= 3);
    for (let round = 0; round < 10; round += 1) expect(await askOthers()).toEqual([200, 200]);
    held.resolve();
    expect(new Set([...(await Promise.all(bodies)), 200, 503])).toEqual(new Set([200, 503]));
    destination.answer = defaultAnswer;
  },
);

test('a body that a transform is to see has so much time to come; another one streams from then on', async () => {
  const { tenant, destination } = hasty.current;
  const parts = { destination: destination.url, requireAuth: false };
  const plain = await tenant.proxy(parts);
  const transformed = await tenant.proxy({ ...parts, requestTransform: keep });
  const streamed = sendInParts(hasty.current, plain.key, { part: Buffer.from('one ') });
  await new Promise((resolve) => setTimeout(resolve, 100));
  const refused = sendInParts(hasty.current, transformed.key, { part: Buffer.from('one ') });
  expect(await refused.status).toBe(408);
  refused.leave();
  streamed.end('two');
  expect(await streamed.status).toBe(200);
  expect(destination.seen.at(-1)?.body).toBe('one two');
});

test.each(['   ', '{', '[ '])('a late body without a content type that has only %j passes', async (body) => {
  const { tenant, destination, url } = hasty.current;
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false });
  const headers = { 'SVC-PROXY-KEY': proxy.key, 'SVC-API-KEY': 'none', 'Content-Length': body.length };
  const sent = request(`${url}/proxy`, { method: 'POST', headers });
  const status = new Promise((resolve) => sent.on('response', (answer) => resolve(answer.resume().statusCode)));
  sent.write(body.slice(0, -1));
  await wait(1000); // longer than BODY_TIMEOUT_MS
  sent.end(body.slice(-1));
  expect(await status).toBe(200);
  expect(destination.seen.at(-1)?.body).toBe(body);
});
