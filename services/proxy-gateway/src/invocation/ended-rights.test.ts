import { connectPostgres, eventually, serveHttp, useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';
import { upload } from '../testing/upload.ts';

/** A held body may take two minutes, and waits for room; its rights may end meanwhile. */
const gateway = useStack(async (stack) => {
  const started = await startTestGateway(stack);
  return { ...started, ...(await started.startAnother()) };
});

type Happening = (ids: { application: string; proxy: string }) => Promise<string[]>;

/** A very busy machine may answer 503, which is safe but says nothing about rights, so that it is tried again. */
async function answerAfter(happens: Happening) {
  let answer = await invokeOnce(happens);
  while (answer.status === 503 && answer.forwarded === 0) answer = await invokeOnce(happens);
  return answer;
}

async function invokeOnce(happens: Happening) {
  const { tenant, url, announce, destination } = gateway.current;
  const application = await tenant.application();
  const proxy = await tenant.proxy({ destination: destination.url });
  const token = await tenant.token({ data: '4242424242424242' });
  const headers = {
    'SVC-API-KEY': application.key,
    'SVC-PROXY-KEY': proxy.key,
    'Content-Type': 'application/json',
    'Content-Length': 100,
  };
  const seenBefore = destination.seen.length;
  const underWay = async () => /^sluice_body_held_bytes\S* [1-9]/m.test(await gateway.current.metrics.metrics());
  async function* body() {
    yield Buffer.from(`["{{ ${token} }}"`.padEnd(99));
    await eventually('the body is awaited', underWay);
    await announce(tenant.id, await happens({ application: application.id, proxy: proxy.id }));
    yield Buffer.from(']');
  }
  const { status, detail } = await upload(url, headers, body());
  return { status, detail, forwarded: destination.seen.length - seenBefore };
}

test('a key that is revoked', async () => {
  const { db } = gateway.current;
  const answer = await answerAfter(async ({ application }) => {
    await db.deleteFrom('applications').where('id', '=', application).execute();
    return [`application:${application}`];
  });
  expect(answer).toMatchObject({ status: 401, forwarded: 0 });
});

test('a Proxy that is deleted', async () => {
  const { db } = gateway.current;
  const answer = await answerAfter(async ({ proxy }) => {
    await db.deleteFrom('proxies').where('id', '=', proxy).execute();
    return [`proxy:${proxy}`];
  });
  expect(answer).toMatchObject({ status: 404, forwarded: 0 });
});

test.each([
  ['sends elsewhere', { destination_url: 'https://elsewhere.example/' }],
  ['has another rule for keys', { require_auth: false }],
  ['has a transform', { request_transform: 'module.exports = ({ args }) => args' }],
  ['has another transform of the answer', { response_transform: 'module.exports = ({ args }) => args' }],
])('a Proxy that now %s is asked again', async (_, changed) => {
  const { db } = gateway.current;
  const answer = await invokeOnce(async ({ proxy }) => {
    await db.updateTable('proxies').set(changed).where('id', '=', proxy).execute();
    return [`proxy:${proxy}`];
  });
  expect(answer).toMatchObject({ status: 503, detail: expect.stringContaining('was changed'), forwarded: 0 });
});

test.each<[string, Happening]>([
  ['nothing happens', async () => []],
  [
    'the Proxy is renamed',
    async ({ proxy }) => {
      await gateway.current.db.updateTable('proxies').set({ name: 'B' }).where('id', '=', proxy).execute();
      return [`proxy:${proxy}`];
    },
  ],
])('the control: where %s, it is served', async (_, happens) => {
  expect(await answerAfter(happens)).toMatchObject({ status: 200, forwarded: 1 });
});

const revoke = ({ application }: { application: string }) =>
  gateway.current.db.deleteFrom('applications').where('id', '=', application).execute();
const widen = ({ application }: { application: string }) =>
  gateway.current.db
    .updateTable('applications')
    .set({ permissions: ['token:use', 'token:read'] })
    .where('id', '=', application)
    .execute();

test.each([
  ['is revoked', 'that asks for a key', true, revoke, 401],
  ['is revoked', 'that asks for none', false, revoke, 401],
  ['has other rights', 'that asks for a key', true, widen, 503],
])(
  'a key that %s while tokens are read for a Proxy %s reveals nothing',
  async (_, _proxy, requireAuth, change, status) => {
    const { tenant, url, announce, databaseUrl, destination } = gateway.current;
    const application = await tenant.application();
    const proxy = await tenant.proxy({ destination: destination.url, requireAuth });
    const token = await tenant.token({ data: '4242424242424242' });
    const headers = { 'SVC-API-KEY': application.key, 'SVC-PROXY-KEY': proxy.key, 'Content-Type': 'application/json' };
    const seenBefore = destination.seen.length;
    const ask = (expression: string) => upload(url, headers, [Buffer.from(JSON.stringify({ expression }))]);
    expect((await ask('none')).status).toBe(200); // then the Proxy is known
    await using client = await connectPostgres(databaseUrl);
    await client.query('begin; lock table tokens in access exclusive mode');
    const answer = ask(`{{ ${token} }}`);
    const waits = 'select from pg_locks where not granted and relation = $1::regclass';
    await eventually('the wait', async () => (await client.query(waits, ['tokens'])).rowCount === 1);
    await change({ application: application.id });
    await announce(tenant.id, [`application:${application.id}`]);
    await client.query('commit');
    expect((await answer).status).toBe(status);
    expect(destination.seen.length - seenBefore).toBe(1);
  },
);

test.each([
  ['with its body in memory', {}],
  ['that streams', { Connection: 'x-own' }],
])('a call %s that waited for its turn at the destination is not made with a key that is gone', async (_, more) => {
  await using stack = new AsyncDisposableStack();
  const { tenant, db, announce, startAnother } = gateway.current;
  const { url, metrics } = await startAnother({ DESTINATION_MAX_CONNECTIONS: '1' });
  const asked: (() => void)[] = [];
  const destination = await serveHttp(stack, (request, response) => {
    request.resume();
    asked.push(() => response.end('{}'));
  });
  const token = await tenant.token({ data: '4242424242424242' });
  const proxy = await tenant.proxy({ destination });
  const [first, second] = [await tenant.application(), await tenant.application()];
  const ask = (key: string) => {
    const headers = { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxy.key, 'Content-Type': 'application/json', ...more };
    return upload(url, headers, [Buffer.from(`["{{ ${token} }}"]`)]);
  };
  const answers = [ask(first.key)];
  await eventually('the first call', () => asked.length === 1);
  answers.push(ask(second.key));
  const waits = async () => /^sluice_destination_waiting\S* 1$/m.test(await metrics.metrics());
  await eventually('the second one waits', waits);
  await db.deleteFrom('applications').where('id', '=', second.id).execute();
  await announce(tenant.id, [`application:${second.id}`]);
  for (const answer of asked) answer();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 401]);
  expect(asked).toHaveLength(1);
});
