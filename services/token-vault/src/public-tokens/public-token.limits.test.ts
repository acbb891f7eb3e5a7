import { randomUUID } from 'node:crypto';
import { singleAddressOf } from '@sluice/hosts';
import { call, eventually, openRedisDoor, useStack } from '@sluice/testing';
import { Redis } from 'ioredis';
import type { Registry } from 'prom-client';
import { startTestTokenVault } from '../testing/test-token-vault.ts';

const settings = {
  TRUSTED_PROXIES: '127.0.0.0/8, ::1/128',
  PUBLIC_TOKENS_PER_MINUTE: '20',
  PUBLIC_TOKEN_BYTES_PER_MINUTE: '6000',
  PUBLIC_TOKENS_PER_ADDRESS_PER_MINUTE: '8',
  PUBLIC_TOKEN_BYTES_PER_ADDRESS_PER_MINUTE: '4000',
  RATE_LIMIT_REDIS_TIMEOUT_MS: '500',
};

const scene = useStack(async (stack) => {
  const door = await openRedisDoor(stack);
  const service = await startTestTokenVault(stack, (url) => url, { ...settings, REDIS_URL: door.url });
  const another = await service.startAnother();
  const key = await service.createKey({ type: 'public', permissions: ['token:create'] });
  for (const { url, metrics } of [service, another])
    await eventually('the process counts in Redis', () => countsInRedis(url, { key, metrics }));
  const redis = new Redis(door.url);
  stack.defer(() => redis.disconnect());
  return { ...service, door, redis, urls: [service.url, another.url] as const };
});

/** The process counts locally until it is connected. */
async function countsInRedis(url: string, { key, metrics }: { key: string; metrics: Registry }): Promise<boolean> {
  const decidedAlone = async () =>
    /^sluice_rate_limit_local_decisions_total (\d+)$/m.exec(await metrics.metrics())?.[1];
  const before = await decidedAlone();
  await call(url, 'POST', '/tokenize', { key, body: [] });
  return (await decidedAlone()) === before;
}

const publicKey = () => scene.current.createKey({ type: 'public', permissions: ['token:create'] });

let lastAddress = 0;
/** Each run has its own addresses, because counts in Redis outlive a run by a minute. */
const run = randomUUID().slice(0, 4);
/** Each address is in a /64 of its own. */
const nextAddress = () => `2001:db8:${run}:${(++lastAddress).toString(16)}::1`;

interface Making {
  key: string;
  from?: string;
  process?: 0 | 1;
  headers?: Record<string, string>;
  method?: 'POST' | 'PATCH';
}

async function tokenize(count: number, making: Making) {
  const body = Array.from({ length: count }, (_, i) => `value ${i}`);
  return request('/tokenize', making, body);
}

async function request(path: string, making: Making, body: unknown) {
  const { key, from = nextAddress(), process = 0, headers, method = 'POST' } = making;
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const answer = await fetch(new URL(path, scene.current.urls[process]), {
    method,
    headers: { 'SVC-API-KEY': key, 'X-Forwarded-For': from, 'Content-Type': type, ...headers },
    body: JSON.stringify(body),
  });
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: await answer.json() };
}

const createToken = (making: Making, data = 'value') => request('/tokens', making, { type: 'token', data });

function expectRefused({ status, retryAfter, body }: Awaited<ReturnType<typeof request>>, detail: string) {
  expect({ status, body }).toMatchObject({
    status: 429,
    body: {
      type: 'urn:sluice:problem:too_many_requests',
      detail: `${detail}; try again after the time in Retry-After`,
    },
  });
  expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
  expect(Number(retryAfter)).toBeLessThanOrEqual(60);
}

const ofApplication = 'At most 20 tokens per minute may be created or changed with one public Application';
const bytesOfApplication =
  'At most 6000 bytes of tokens per minute may be created or changed with one public Application';
const ofAddress = 'At most 8 tokens per minute may be created or changed with public keys from one address';
const ofBytes = 'At most 4000 bytes of tokens per minute may be created or changed with public keys from one address';

describe('an Application', () => {
  test('has its tokens over all addresses and processes; beyond 429, and another has its own', async () => {
    const key = await publicKey();
    expect((await tokenize(8, { key })).status).toBe(200);
    expect((await tokenize(8, { key, process: 1 })).status).toBe(200);
    for (const process of [0, 1, 0, 1] as const) expect((await createToken({ key, process })).status).toBe(201);
    for (const process of [0, 1] as const) {
      expectRefused(await createToken({ key, process }), ofApplication);
      expectRefused(await tokenize(1, { key, process }), ofApplication);
    }
    expect((await createToken({ key: await publicKey() })).status).toBe(201);
  });

  test('has its bytes over all addresses and processes, and another has its own', async () => {
    const key = await publicKey();
    for (const process of [0, 1] as const) {
      expect((await createToken({ key, process }, 'x'.repeat(2500))).status).toBe(201);
    }
    for (const process of [0, 1] as const) {
      expectRefused(await createToken({ key, process }, 'x'.repeat(2500)), bytesOfApplication);
    }
    expect((await createToken({ key: await publicKey() }, 'x'.repeat(2500))).status).toBe(201);
  });

  test('loses nothing to an address that is beyond its own limit', async () => {
    const key = await publicKey();
    const from = nextAddress();
    for (let i = 0; i < 10; i++) await tokenize(7, { key, from });
    for (const count of [8, 5]) expect((await tokenize(count, { key })).status).toBe(200);
    expectRefused(await createToken({ key }), ofApplication);
  });

  test('stores nothing of a request that is refused', async () => {
    const { key, tenantId } = await scene.current.createApplication({ type: 'public', permissions: ['token:create'] });
    expectRefused(await tokenize(9, { key }), ofAddress);
    const { db } = scene.current;
    expect(await db.selectFrom('tokens').select('id').where('tenant_id', '=', tenantId).execute()).toEqual([]);
  });
});

describe('an address', () => {
  test('has its tokens over all Applications and processes; another address has its own', async () => {
    const keys = [await publicKey(), await publicKey()] as const;
    const from = nextAddress();
    expect((await tokenize(7, { key: keys[0], from })).status).toBe(200);
    expect((await createToken({ key: keys[1], from, process: 1 })).status).toBe(201);
    for (const [i, key] of keys.entries()) {
      expectRefused(await createToken({ key, from, process: i === 0 ? 1 : 0 }), ofAddress);
      expect((await createToken({ key })).status).toBe(201);
    }
  });

  test('has its bytes', async () => {
    const [key, from] = [await publicKey(), nextAddress()];
    expect((await createToken({ key, from }, 'x'.repeat(2500))).status).toBe(201);
    expectRefused(await createToken({ key, from, process: 1 }, 'x'.repeat(2500)), ofBytes);
    expect((await createToken({ key }, 'x'.repeat(2500))).status).toBe(201);
  });

  test('of IPv6 is a /64', async () => {
    const [key, from] = [await publicKey(), nextAddress()];
    expect((await tokenize(8, { key, from })).status).toBe(200);
    expectRefused(await createToken({ key, from: from.replace(/::1$/, ':1:2:3:4') }), ofAddress);
  });

  test('is what a trusted proxy says, so a client that invents others stays one', async () => {
    const [key, from] = [await publicKey(), nextAddress()];
    expect((await tokenize(8, { key, from: `${nextAddress()}, ${from}` })).status).toBe(200);
    expectRefused(await createToken({ key, from: `${nextAddress()}, ${from}` }), ofAddress);
  });
});

describe('a call that makes no token', () => {
  const bodies = [[], {}, null, [[{}, null], { a: { b: [] } }], Array(500).fill([])];
  const recordsOf = (tenantId: string) =>
    scene.current.db.selectFrom('idempotency_records').select('tenant_id').where('tenant_id', '=', tenantId).execute();

  test('counts as one', async () => {
    const [key, from] = [await publicKey(), nextAddress()];
    for (let i = 0; i < 8; i++) expect((await request('/tokenize', { key, from }, [])).status).toBe(200);
    expectRefused(await request('/tokenize', { key, from }, []), ofAddress);
    expectRefused(await createToken({ key, from }), ofAddress);
    for (let i = 0; i < 12; i++) expect((await request('/tokenize', { key }, {})).status).toBe(200);
    expectRefused(await request('/tokenize', { key }, null), ofApplication);
  });

  test('leaves nothing under its idempotency key, whatever it sends, and is answered alike again', async () => {
    const { key, tenantId } = await scene.current.createApplication({ type: 'public', permissions: ['token:create'] });
    for (const body of bodies) {
      const making = { key, headers: { 'SVC-IDEMPOTENCY-KEY': randomUUID() } };
      for (const time of [1, 2]) {
        expect([time, await request('/tokenize', making, body)]).toEqual([
          time,
          expect.objectContaining({ status: 200, body }),
        ]);
      }
    }
    expect(await recordsOf(tenantId)).toEqual([]);
    await tokenize(1, { key, headers: { 'SVC-IDEMPOTENCY-KEY': randomUUID() } });
    expect(await recordsOf(tenantId)).toHaveLength(1); // control: what makes a token is kept
  });
});

test('a change counts like a creation: of the address and of the Application, and what is beyond changes nothing', async () => {
  const { createApplication, db } = scene.current;
  const both = { type: 'public', permissions: ['token:create', 'token:update'] } as const;
  const { key, tenantId } = await createApplication({ ...both, permissions: [...both.permissions] });
  const from = nextAddress();
  const { id } = (await createToken({ key, from })).body as { id: string };
  const patch = (making: Making, text: string) =>
    request(`/tokens/${id}`, { ...making, method: 'PATCH' }, { metadata: { text } });
  for (let i = 0; i < 7; i++) expect((await patch({ key, from }, `change ${i}`)).status).toBe(200);
  expectRefused(await patch({ key, from }, 'beyond'), ofAddress);
  expectRefused(await createToken({ key, from }), ofAddress);
  expectRefused(await patch({ key }, 'x'.repeat(4000)), ofBytes);
  for (let i = 0; i < 12; i++) expect((await patch({ key }, `later ${i}`)).status).toBe(200);
  expectRefused(await patch({ key, process: 1 }, 'beyond'), ofApplication);
  const found = await db.selectFrom('tokens').select('metadata').where('tenant_id', '=', tenantId).execute();
  expect(found).toEqual([{ metadata: { text: 'later 11' } }]);
  const changer = await createApplication({ tenantId, permissions: ['token:update'] });
  for (let i = 0; i < 9; i++) expect((await patch({ key: changer.key, from }, `private ${i}`)).status).toBe(200); // control
});

test('an answer that is kept under an idempotency key is replayed beyond the limit', async () => {
  const [key, from] = [await publicKey(), nextAddress()];
  const making = { key, from, headers: { 'SVC-IDEMPOTENCY-KEY': randomUUID() } };
  const first = await tokenize(8, making);
  expect(first.status).toBe(200);
  expectRefused(await createToken({ key, from }), ofAddress);
  expect(await tokenize(8, making)).toMatchObject({ status: 200, body: first.body });
});

test('a refusal is not kept under an idempotency key', async () => {
  const [key, from] = [await publicKey(), nextAddress()];
  expect((await tokenize(8, { key, from })).status).toBe(200);
  const headers = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
  expectRefused(await createToken({ key, from, headers }), ofAddress);
  expect((await createToken({ key, headers })).status).toBe(201);
});

test('private keys and sessions have no limit, also from an address that is beyond its own', async () => {
  const { createApplication, createSession } = scene.current;
  const application = await createApplication({ permissions: ['token:create'] });
  const session = await createSession(application, { permissions: ['token:create'], rules: [] });
  const from = nextAddress();
  await tokenize(9, { key: await publicKey(), from });
  expectRefused(await createToken({ key: await publicKey(), from }), ofAddress);
  for (const { key } of [application, session]) {
    expect((await tokenize(50, { key, from })).status).toBe(200);
    expect((await createToken({ key, from }, 'x'.repeat(5000))).status).toBe(201);
  }
});

test('Redis holds ids and addresses only, for a minute at most', async () => {
  const { createApplication, redis } = scene.current;
  const { id, key } = await createApplication({ type: 'public', permissions: ['token:create'] });
  const from = nextAddress();
  await tokenize(3, { key, from });
  const address = singleAddressOf(from);
  const names = [`application:${id}`, `application_bytes:${id}`, `address:${address}`, `address_bytes:${address}`];
  for (const name of names) {
    const ttlMs = await redis.pttl(`sluice:rate:public_token_${name}`);
    expect(ttlMs).toBeGreaterThan(0);
    expect(ttlMs).toBeLessThanOrEqual(60_000);
  }
  expect(await redis.keys(`*${key}*`)).toEqual([]);
});

test('the metrics tell which limit refused', async () => {
  const text = await scene.current.metrics.metrics();
  for (const limit of ['application', 'application_bytes', 'address', 'address_bytes'])
    expect(text).toMatch(new RegExp(`^sluice_public_token_refusals_total\\{limit="${limit}"\\} \\d`, 'm'));
  expect(text).toMatch(/^sluice_public_token_refusals_total\{limit="address"\} [1-9]/m);
});

const isBack = (line: string) => line.includes('shared with the other processes again');

test('while Redis is away each process counts by itself, and they count together again afterwards', async () => {
  const { door, lines } = scene.current;
  const [key, from] = [await publicKey(), nextAddress()];
  const backBefore = lines.filter(isBack).length;
  await door.shut();
  for (const process of [0, 1] as const) {
    expect((await tokenize(8, { key, from, process })).status).toBe(200);
    expectRefused(await createToken({ key, from, process }), ofAddress);
  }
  await door.open();
  await eventually('both processes share again', () => lines.filter(isBack).length === backBefore + 2);
  const later = nextAddress();
  expect((await tokenize(8, { key: await publicKey(), from: later })).status).toBe(200);
  expectRefused(await createToken({ key: await publicKey(), from: later, process: 1 }), ofAddress);
});

describe('without TRUSTED_PROXIES', () => {
  const { TRUSTED_PROXIES: _, ...withoutProxies } = settings;
  const warning =
    'TRUSTED_PROXIES is not set, so tokens created or changed with public keys are not limited by address';

  async function start(stack: AsyncDisposableStack, more: Record<string, string> = {}) {
    const service = await startTestTokenVault(stack, (url) => url, { ...withoutProxies, ...more });
    const key = await service.createKey({ type: 'public', permissions: ['token:create'] });
    const make = async (count: number) =>
      (await service.send('POST', '/tokenize', { key, body: Array.from({ length: count }, () => 'value') })).status;
    return { make, warnings: () => service.lines.filter((line) => line.includes(warning)).length };
  }

  test('only Applications are limited, and the start says so once', async () => {
    await using stack = new AsyncDisposableStack();
    const { make, warnings } = await start(stack);
    expect([await make(15), await make(5), await make(1), warnings()]).toEqual([200, 200, 429, 1]);
    expect(scene.current.lines.join('')).not.toContain(warning);
  });

  test('with none, the address is that of the connection; with 0 a limit is off', async () => {
    await using stack = new AsyncDisposableStack();
    const off = {
      PUBLIC_TOKENS_PER_MINUTE: '0',
      PUBLIC_TOKEN_BYTES_PER_MINUTE: '0',
      PUBLIC_TOKEN_BYTES_PER_ADDRESS_PER_MINUTE: '0',
    };
    const most = { PUBLIC_TOKENS_PER_ADDRESS_PER_MINUTE: '2000000000' };
    const { make, warnings } = await start(stack, { TRUSTED_PROXIES: 'none', ...off, ...most });
    expect([await make(30), await make(1000), warnings()]).toEqual([200, 200, 0]);
  });
});
