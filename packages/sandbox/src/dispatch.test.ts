import { openTestPool } from './testing/test-pool.ts';

afterEach(() => jest.restoreAllMocks());

/** How often each timer of this duration was restarted, in the order in which they were set. */
function watchTimers(durationMs: number): () => number[] {
  const set = setTimeout;
  const restarts: jest.SpyInstance[] = [];
  const watched = (run: () => void, ms: number, ...parameters: []) => {
    const timer = set(run, ms, ...parameters);
    if (ms === durationMs) restarts.push(jest.spyOn(timer, 'refresh'));
    return timer;
  };
  jest.spyOn(globalThis, 'setTimeout').mockImplementation(watched as typeof setTimeout);
  return () => restarts.map(({ mock }) => mock.calls.length);
}

test('the limit of waiting begins anew for work that moves to the slow threads, and for no other', async () => {
  const waitMs = 299_999;
  const pool = openTestPool({ threads: 2, limits: { cpuMs: 300, wallMs: 300_000 }, waitMs });
  await pool.ready();
  const good = 'module.exports = () => ({ body: 1 })';
  const calls = 'module.exports = async (req) => ({ body: await req.svc.tokenize(1) })';
  for (const code of [good, calls]) await pool.run(code, { tenantId: 'other', host: async () => '1' });
  const restarts = watchTimers(waitMs);
  const answer = Promise.withResolvers<string>();
  const holds = pool.body(calls, { tenantId: 'other', host: () => answer.promise });
  const waits = pool.body(good, { tenantId: 'other' });
  const loops = pool.failure('module.exports = () => { for (;;) {} }', { tenantId: 'slow' });
  const moves = pool.body(good, { tenantId: 'slow' });
  expect(await loops).toMatchObject({ cause: { limit: 'cpuMs' } });
  expect(await moves).toBe(1);
  const [ofHolds, ofWaits, ofLoops, ofMoves] = restarts();
  expect({ ofHolds, ofWaits, ofLoops, ofMoves }).toEqual({ ofHolds: 0, ofWaits: 0, ofLoops: 0, ofMoves: 1 });
  answer.resolve('1');
  expect([await holds, await waits]).toEqual([1, 1]);
  await pool.close();
});
