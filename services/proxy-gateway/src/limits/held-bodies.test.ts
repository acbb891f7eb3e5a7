import { gzipSync } from 'node:zlib';
import { call, eventually, slow, useStack } from '@sluice/testing';
import { defaultAnswer } from '../testing/test-destination.ts';
import { startTestGateway } from '../testing/test-gateway.ts';

const mebibyte = 2 ** 20;
const strict = useStack((stack) =>
  startTestGateway(stack, {
    BODY_HELD_BYTES: `${4 * mebibyte}`,
    BODY_WAIT_MS: '100',
    TRANSFORM_OUTPUT_BYTES: '65536',
  }),
);

type Gateway = typeof strict.current;

async function proxyOf({ tenant, destination }: Gateway, parts: { requestTransform?: string } = {}) {
  return tenant.proxy({ destination: destination.url, requireAuth: false, ...parts });
}

function send({ url }: Gateway, proxyKey: string, { body, coding }: { body: string | Buffer; coding?: string }) {
  const headers = { 'SVC-PROXY-KEY': proxyKey, 'Content-Type': 'application/json' };
  return fetch(`${url}/proxy`, {
    method: 'POST',
    headers: coding ? { ...headers, 'Content-Encoding': coding } : headers,
    body,
  });
}

const keep = 'module.exports = async () => ({})';
/** The result releases the answers to bodies of over 1,000 bytes. */
function holdLargeBodies({ destination }: Gateway): () => void {
  const released = Promise.withResolvers<void>();
  destination.answer = (request, response) => {
    const isLarge = Number(request.headers['content-length']) > 1000;
    void (isLarge ? released.promise : Promise.resolve()).then(() => defaultAnswer(request, response));
  };
  return released.resolve;
}

test('bombs that wait leave another Tenant its room, and are refused with the time to try again', async () => {
  const { stranger, destination, url } = strict.current;
  const letGo = holdLargeBodies(strict.current);
  const proxy = await proxyOf(strict.current, { requestTransform: keep });
  const other = await stranger.proxy({ destination: destination.url, requireAuth: false, requestTransform: keep });
  const bomb = gzipSync(JSON.stringify('x'.repeat(mebibyte)));
  const order: string[] = [];
  const bombs = Array.from({ length: 30 }, async () => {
    const answer = await send(strict.current, proxy.key, { body: bomb, coding: 'gzip' });
    order.push('bomb');
    return answer;
  });
  const refused = await Promise.race(bombs);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  const headers = { 'SVC-PROXY-KEY': other.key };
  expect((await call(url, 'POST', '/proxy', { headers, body: '{"a":1}' })).status).toBe(200);
  order.push('other');
  letGo();
  const statuses = (await Promise.all(bombs)).map(({ status }) => status);
  expect(statuses).toContain(200);
  expect(order.at(-1)).toBe('bomb');
});

test('results of transforms are held as well, however small their requests', async () => {
  const { tenant, destination, url } = strict.current;
  let held = 0;
  const released = Promise.withResolvers<void>();
  destination.answer = (request, response) => {
    held += 1;
    void released.promise.then(() => defaultAnswer(request, response));
  };
  const large = "module.exports = async () => ({ body: 'x'.repeat(60_000) })";
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false, requestTransform: large });
  const invoke = () => call(url, 'POST', '/proxy', { headers: { 'SVC-PROXY-KEY': proxy.key }, body: '{}' });
  const calls = Array.from({ length: 80 }, invoke);
  const first = await Promise.race(calls);
  const heldThen = held;
  released.resolve();
  expect(first.status).toBe(503);
  expect(heldThen * 60_000).toBeLessThan(2 * mebibyte); // a Tenant may hold half of what the process may hold
  expect(new Set((await Promise.all(calls)).map(({ status }) => status))).toEqual(new Set([200, 503]));
});

slow('1 s')('values that make a body large are held with it', async () => {
  const { tenant, destination, url } = strict.current;
  let held = 0;
  const released = Promise.withResolvers<void>();
  destination.answer = (request, response) => {
    held += 1;
    void released.promise.then(() => defaultAnswer(request, response));
  };
  const token = await tenant.token({ data: 'x'.repeat(100_000) });
  const { key } = await tenant.application();
  const proxy = await tenant.proxy({ destination: destination.url });
  const headers = { 'SVC-PROXY-KEY': proxy.key };
  const calls = Array.from({ length: 80 }, () =>
    call(url, 'POST', '/proxy', { key, headers, body: { a: `{{ ${token} }}` } }),
  );
  const first = await Promise.race(calls);
  const heldThen = held;
  released.resolve();
  expect(first.status).toBe(503);
  expect(heldThen * 100_000).toBeLessThan(2 * mebibyte);
  expect(new Set((await Promise.all(calls)).map(({ status }) => status))).toEqual(new Set([200, 503]));
});

test('the control: results that are small are held all at once', async () => {
  const { tenant, destination, url } = strict.current;
  let held = 0;
  const released = Promise.withResolvers<void>();
  destination.answer = (request, response) => {
    held += 1;
    void released.promise.then(() => defaultAnswer(request, response));
  };
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false, requestTransform: keep });
  const invoke = () => call(url, 'POST', '/proxy', { headers: { 'SVC-PROXY-KEY': proxy.key }, body: '{}' });
  const calls: ReturnType<typeof invoke>[] = [];
  for (let at = 1; at <= 80; at += 1) {
    calls.push(invoke());
    await eventually('the destination', () => held === at);
  }
  released.resolve();
  expect(new Set((await Promise.all(calls)).map(({ status }) => status))).toEqual(new Set([200]));
});

test('callers that leave give their room back', async () => {
  const letGo = holdLargeBodies(strict.current);
  const proxy = await proxyOf(strict.current, { requestTransform: keep });
  const leaving = new AbortController();
  const { url } = strict.current;
  const headers = { 'SVC-PROXY-KEY': proxy.key, 'Content-Type': 'application/json' };
  const body = JSON.stringify('x'.repeat(mebibyte));
  const left = Array.from({ length: 10 }, () =>
    fetch(`${url}/proxy`, { method: 'POST', headers, body, signal: leaving.signal }).catch(
      (error: Error) => error.name,
    ),
  );
  await Promise.race(left);
  leaving.abort();
  await Promise.all(left);
  letGo();
  const honest = await proxyOf(strict.current);
  await eventually('room', async () => (await send(strict.current, honest.key, { body })).status === 200);
});
