import { randomUUID } from 'node:crypto';
import { runBytesCounter } from '@sluice/database';
import { slow, useStack } from '@sluice/testing';
import { callsOut, echo, openRunScene } from '../../testing/run-scene.ts';
import { testRuns } from '../../testing/test-runs.ts';

const gateway = useStack((stack) => openRunScene(stack));

describe('refusals', () => {
  slow('0.9 s')(
    '404 for runs of others, unknown ones, and of another reactor; 403 without token:use; 401 without a key',
    async () => {
      const { tenant, stranger, begin, end, result, cancel, ask } = gateway.current;
      const { key } = await gateway.current.caller();
      const [{ id }, other] = [await tenant.reactor({ code: echo }), await tenant.reactor({ code: echo })];
      const runId = await begin(id, key, 1);
      await end(id, runId, key);
      const foreign = (await stranger.application()).key;
      const another = (await gateway.current.caller()).key;
      for (const [reactorId, run, by] of [
        [id, runId, another],
        [id, runId, foreign],
        [other.id, runId, key],
        [id, randomUUID(), key],
      ] as const) {
        expect((await result(reactorId, run, by)).status).toBe(404);
        expect((await cancel(reactorId, run, by)).status).toBe(404);
      }
      expect((await ask(id, foreign)).status).toBe(404);
      const without = (await gateway.current.caller(['token:create'])).key;
      for (const answer of [
        await ask(id, without),
        await result(id, runId, without),
        await cancel(id, runId, without),
      ]) {
        expect(answer).toMatchObject({
          status: 403,
          body: { detail: 'This operation needs the permission token:use' },
        });
      }
      for (const answer of [await ask(id, ''), await result(id, runId, ''), await cancel(id, runId, '')]) {
        expect(answer.status).toBe(401);
      }
      expect((await result(id, runId, key)).body).toEqual({ raw: 1 });
    },
  );

  test('403 for a session of other reactors', async () => {
    const { tenant, ask } = gateway.current;
    const { id } = await tenant.reactor({ code: echo });
    const session = await tenant.session((await gateway.current.caller()).id, { reactors: [randomUUID()] });
    expect((await ask(id, session.key)).status).toBe(403);
  });

  test.each([
    ['a short time limit', { timeout_ms: 9999 }, 400],
    ['a long time limit', { timeout_ms: 210_001 }, 400],
    ['a time limit of another type', { timeout_ms: '20000' }, 400],
    ['a number that would be rounded', { args: { a: 2 ** 53 + 2 } }, 400],
    ['arguments over 1 MiB', { args: 'x'.repeat(1024 * 1024) }, 413],
    ['another type', 'text', 400],
  ])('%s: %#', async (_, body, status) => {
    const { tenant, ask } = gateway.current;
    const { id } = await tenant.reactor({ code: echo });
    expect((await ask(id, (await gateway.current.caller()).key, { body })).status).toBe(status);
  });

  test('415 for another media type, 400 for what is no id', async () => {
    const { tenant, ask, result } = gateway.current;
    const { id } = await tenant.reactor({ code: echo });
    const { key } = await gateway.current.caller();
    expect((await ask(id, key, { headers: { 'Content-Type': 'text/plain' } })).status).toBe(415);
    expect((await ask('x', key)).status).toBe(400);
    expect((await result(id, 'x', key)).status).toBe(400);
  });

  test('an idempotency key begins one run, and the same key with another body is 409', async () => {
    const { tenant, ask, db } = gateway.current;
    const { key } = await gateway.current.caller();
    const { id } = await tenant.reactor({ code: echo });
    const headers = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
    const first = await ask(id, key, { body: { args: 1 }, headers });
    const again = await ask(id, key, { body: { args: 1 }, headers });
    expect([again.status, again.body]).toEqual([202, first.body]);
    expect((await ask(id, key, { body: { args: 2 }, headers })).status).toBe(409);
    expect(await db.selectFrom('reactor_runs').select('id').where('reactor_id', '=', id).execute()).toHaveLength(1);
  });
});

describe('429', () => {
  slow('0.5 s')(
    'beyond the runs that may wait, also for many at once, and another Tenant is not concerned',
    async () => {
      const { createTenant, stranger, ask, begin, end, destination, db, metrics } = gateway.current;
      using held = gateway.current.holdDestination();
      const tenant = await createTenant();
      const { key } = await tenant.application();
      const { id } = await tenant.reactor({ code: callsOut });
      await gateway.current.occupy(id, key);
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => ask(id, key, { body: { args: { url: destination.url } } })),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 202, 202, 429, 429, 429, 429, 429]);
      const refused = answers.find(({ status }) => status === 429);
      expect(refused?.body.detail).toBe('This Tenant has reached its limit of 3 waiting runs');
      expect(refused?.headers.get('retry-after')).toBe('10');
      expect(await metrics.metrics()).toMatch(/limit="reactor_runs"[^}]*\} 5/);
      const theirs = await stranger.application();
      const { id: theirId } = await stranger.reactor({ code: echo });
      expect((await end(theirId, await begin(theirId, theirs.key, 2), theirs.key)).body).toEqual({ raw: 2 });
      held.release();
      const waiting = await db.selectFrom('reactor_runs').select('id').where('reactor_id', '=', id).execute();
      for (const run of waiting) expect((await end(id, run.id, key)).body).toEqual({ raw: 200 });
    },
  );

  slow('1 s')('where the kept results have reached their size, until they are gone', async () => {
    const { startAnother, db, createTenant } = gateway.current;
    await using stack = new AsyncDisposableStack();
    const { signal: draining } = new AbortController();
    const { url } = await startAnother({ REACTOR_RESULTS_TENANT_BYTES: '1024' }, { stack, draining });
    const { ask, begin, end } = testRuns({ db, url });
    const tenant = await createTenant();
    const { key } = await tenant.application();
    const { id } = await tenant.reactor({ code: 'module.exports = async () => ({ raw: "x".repeat(2000) })' });
    await end(id, await begin(id, key), key);
    expect(await ask(id, key)).toMatchObject({
      status: 429,
      body: { detail: expect.stringMatching(/^The stored results of this Tenant/) },
    });
    await db.deleteFrom('counters').where('tenant_id', '=', tenant.id).execute();
    expect((await ask(id, key)).status).toBe(202);
  });

  test('for a run that waited while others filled what is kept; it has not run', async () => {
    const { createTenant, begin, end, row, db, destination } = gateway.current;
    using held = gateway.current.holdDestination();
    const tenant = await createTenant();
    const { key } = await tenant.application();
    const { id } = await tenant.reactor({ code: callsOut });
    const [first = ''] = await gateway.current.occupy(id, key);
    const waiting = await begin(id, key, { url: `${destination.url}/too-much` });
    const full = { tenant_id: tenant.id, counter: runBytesCounter, slot: 0, value: 2 ** 30 };
    await db.insertInto('counters').values(full).execute();
    held.release();
    expect((await end(id, first, key)).body).toEqual({ raw: 200 });
    expect((await end(id, waiting, key)).body.error).toMatchObject({ status: 429 });
    expect((await row(waiting)).marked_at).toBeNull();
  });
});

test('a Tenant with many waiting runs delays no other', async () => {
  const { createTenant, stranger, begin, end, row, destination } = gateway.current;
  using held = gateway.current.holdDestination();
  const tenant = await createTenant();
  const { key } = await tenant.application();
  const { id } = await tenant.reactor({ code: callsOut });
  const runs = await gateway.current.occupy(id, key);
  for (let i = 0; i < 3; i++) runs.push(await begin(id, key, { url: destination.url }));
  const theirs = await stranger.application();
  const { id: theirId } = await stranger.reactor({ code: echo });
  expect((await end(theirId, await begin(theirId, theirs.key, 'mine'), theirs.key)).body).toEqual({ raw: 'mine' });
  for (const run of runs.slice(2)) expect((await row(run)).state).toBe('waiting');
  held.release();
  for (const run of runs) expect((await end(id, run, key)).body).toEqual({ raw: 200 });
});
