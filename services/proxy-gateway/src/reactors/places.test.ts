import { eventually, slow, useStack } from '@sluice/testing';
import { reactAt } from '../testing/react-at.ts';
import { startTestGateway } from '../testing/test-gateway.ts';
import { ReactorPlaces } from './places.ts';

describe('places', () => {
  test('one Tenant has half of them, rounded down, and at least one', () => {
    for (const [threads, most] of [
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 2],
      [5, 2],
    ] as const) {
      const places = new ReactorPlaces(threads);
      for (let i = 0; i < most; i += 1) places.take('a');
      expect([threads, places.isFree('a'), places.isFree('b')]).toEqual([threads, false, threads > most]);
      expect(() => places.take('a')).toThrow(expect.objectContaining({ code: 'unavailable', retryAfterSeconds: 1 }));
    }
  });

  test('all Tenants together have no more than there are threads', () => {
    const places = new ReactorPlaces(4);
    for (const tenant of ['a', 'a', 'b', 'c']) places.take(tenant);
    expect([places.taken, places.isFree('d')]).toEqual([4, false]);
  });

  test('Tenants whose code is slow have half of them together, and each a quarter', () => {
    const slow = new Set(['a', 'b', 'c']);
    const places = new ReactorPlaces(4, (tenantId) => slow.has(tenantId));
    const giveBack = places.take('a');
    expect(places.isFree('a')).toBe(false);
    places.take('b');
    expect(['c', 'quick'].map((tenantId) => places.isFree(tenantId))).toEqual([false, true]);
    giveBack();
    expect(places.isFree('c')).toBe(true);
    slow.delete('b');
    expect(places.isFree('b')).toBe(true);
  });

  test('a place is given back once', () => {
    const places = new ReactorPlaces(2);
    const giveBack = places.take('a');
    giveBack();
    giveBack();
    expect([places.taken, places.isFree('a')]).toEqual([0, true]);
    places.take('a');
    expect(places.isFree('a')).toBe(false);
  });
});

const gateway = useStack((stack) => startTestGateway(stack, { REACTOR_THREADS: '4' }));
const calling = "module.exports = async (req) => { await fetch(req.args); return { raw: 'done' } }";

slow('0.7 s')(
  'beyond its half a Tenant is refused with a time to wait; others, and all transforms, are served',
  async () => {
    const { url, tenant, stranger, destination } = gateway.current;
    const { promise: mayAnswer, resolve: release } = Promise.withResolvers<void>();
    destination.answer = async ({ url: path }, response) => {
      if (path === '/held') await mayAnswer;
      response.end('{}');
    };
    const [caller, other] = [await tenant.application(), await stranger.application()];
    const [own, others] = [await tenant.reactor({ code: calling }), await stranger.reactor({ code: calling })];
    const held = { args: `${destination.url}/held` };
    const run = (body: object) => reactAt(url, { id: own.id, key: caller.key, body });
    const underWay = [run(held), run(held)];
    await eventually('both call out', () => destination.seen.length === 2);
    const refused = await run(held);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(refused.body.detail).toContain('react-async');
    const answer = await reactAt(url, { id: others.id, key: other.key, body: { args: destination.url } });
    expect(answer.body).toEqual({ raw: 'done' });

    const requestTransform = 'module.exports = async ({ args }) => ({ body: { seen: args.body } })';
    for (const owner of [tenant, stranger]) {
      const proxy = await owner.proxy({ destination: destination.url, requireAuth: false, requestTransform });
      const headers = { 'SVC-PROXY-KEY': proxy.key, 'Content-Type': 'application/json' };
      const invoked = await fetch(`${url}/proxy`, { method: 'POST', headers, body: '1' });
      expect([invoked.status, destination.seen.at(-1)?.body]).toEqual([200, '{"seen":1}']);
    }

    release();
    expect((await Promise.all(underWay)).map(({ body }) => body)).toEqual([{ raw: 'done' }, { raw: 'done' }]);
    expect((await run({ args: destination.url })).status).toBe(200);
  },
);

/** The destination answers nobody before these runs, two of each Tenant, have all called out. */
async function expectAllCallOut(
  url: string,
  idsOf: (owner: typeof gateway.current.tenant, key: string) => Promise<[first: string, second: string]>,
): Promise<void> {
  const { tenant, stranger, destination } = gateway.current;
  const { promise: mayAnswer, resolve: release } = Promise.withResolvers<void>();
  destination.answer = async (_, response) => {
    await mayAnswer;
    response.end('{}');
  };
  const before = destination.seen.length;
  const runs: ReturnType<typeof reactAt>[] = [];
  for (const owner of [tenant, stranger]) {
    const { key } = await owner.application();
    for (const id of await idsOf(owner, key)) runs.push(reactAt(url, { id, key, body: { args: destination.url } }));
  }
  await eventually('all four call out', () => destination.seen.length === before + 4).finally(release);
  expect((await Promise.all(runs)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
}

test('each place has a thread, also where no code has run before', () =>
  expectAllCallOut(gateway.current.url, async (owner) => [
    (await owner.reactor({ code: `${calling} // first` })).id,
    (await owner.reactor({ code: `${calling} // second` })).id,
  ]));

slow('2.1 s')('each place has a thread, also for Tenants whose code was slow', async () => {
  // Each such Tenant may use a quarter of them.
  const { url } = await gateway.current.startAnother({ REACTOR_THREADS: '8', TRANSFORM_CPU_MS: '200' });
  await expectAllCallOut(url, async (owner, key) => {
    const slow = await owner.reactor({ code: 'module.exports = async () => { for (;;); }' });
    expect((await reactAt(url, { id: slow.id, key, body: {} })).body.detail).toContain('CPU');
    const { id } = await owner.reactor({ code: calling });
    return [id, id];
  });
});
