import { randomUUID } from 'node:crypto';
import { tagOf } from '@sluice/cache-coherence';
import { runBytesCounter } from '@sluice/database';
import { eventually, slow, untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { callsOut, openRunScene, readsThenCalls } from '../../testing/run-scene.ts';

const gateway = useStack((stack) => openRunScene(stack));

describe('a run that was lost', () => {
  test('calls out no more, and has no tokens and no result', async () => {
    const { tenant, begin, row, untilState, holdTokens, db, destination } = gateway.current;
    const { key, id: applicationId } = await gateway.current.caller(['token:use', 'token:create', 'token:read']);
    const token = await tenant.token({ data: 'x' });
    const { id } = await tenant.reactor({ code: readsThenCalls, applicationId });
    const release = await holdTokens();
    const runId = await begin(id, key, { token, url: `${destination.url}/lost` });
    await untilState(runId, 'running');
    await untilLockIsAwaited(db);
    // As the sweep does when a lease has passed; another gateway has it then.
    const other = { claim_id: randomUUID(), tries: 2 };
    await db.updateTable('reactor_runs').set(other).where('id', '=', runId).execute();
    await release();
    await gateway.current
      .begin(id, key, { token, url: `${destination.url}/control` })
      .then((control) => gateway.current.end(id, control, key));
    expect(destination.seen.map(({ url }) => url)).toContain('/control');
    expect(destination.seen.map(({ url }) => url)).not.toContain('/lost');
    expect(await row(runId)).toMatchObject({ ...other, state: 'running', marked_at: null, result_ciphertext: null });
  });
});

describe('a run whose Tenant uses up its share of connections', () => {
  test('keeps its lease', async () => {
    const { tenant, begin, end, cancel, row, untilCalled, db, destination } = gateway.current;
    using held = gateway.current.holdDestination();
    const { key } = await gateway.current.caller();
    const { id } = await tenant.reactor({ code: callsOut });
    const runId = await begin(id, key, { url: `${destination.url}/keeps` });
    await untilCalled('/keeps');
    // A cancellation waits for its row until its statement times out, and then the next one has its connection.
    const locked = Array.from({ length: 32 }, () => randomUUID());
    const paused = { claim_id: null, marked_at: null, state: 'waiting' as const, lease_until: '2999-01-01T00:00:00Z' };
    const like = await row(runId);
    const rows = locked.map((one) => ({ ...like, ...paused, id: one }));
    await db.insertInto('reactor_runs').values(rows).execute();
    const holder = await db.startTransaction().execute();
    await holder.selectFrom('reactor_runs').select('id').where('id', 'in', locked).forUpdate().execute();
    const flood = locked.map((one) => cancel(id, one, key));
    try {
      await eventually('its share is used up', async () => {
        const { rows } = await sql<{ count: number }>`
          select count(*) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
        return rows[0]?.count === 8;
      });
      for (let renewals = 0; renewals < 2; renewals += 1) {
        const { lease_until: before } = await row(runId);
        await eventually('its lease is renewed', async () => (await row(runId)).lease_until !== before);
      }
    } finally {
      await holder.rollback().execute();
    }
    await Promise.all(flood);
    held.release();
    expect((await end(id, runId, key)).body).toEqual({ raw: 200 });
  });
});

describe('cancelling', () => {
  test('204 for a run that waits, and then it never runs and is 404', async () => {
    const { tenant, begin, end, cancel, result, row, destination } = gateway.current;
    using held = gateway.current.holdDestination();
    const { key } = await gateway.current.caller();
    const { id } = await tenant.reactor({ code: callsOut });
    await gateway.current.occupy(id, key);
    const runId = await begin(id, key, { url: `${destination.url}/cancelled` });
    expect(await cancel(id, runId, key)).toMatchObject({ status: 204, body: {} });
    expect([await result(id, runId, key), await cancel(id, runId, key)]).toMatchObject([
      { status: 404 },
      { status: 404 },
    ]);
    expect(await row(runId)).toMatchObject({ state: 'cancelled', arguments_ciphertext: null });
    held.release();
    const next = await begin(id, key, { url: destination.url });
    await end(id, next, key);
    expect(destination.seen.map(({ url }) => url)).not.toContain('/cancelled');
  });

  test('204 for one that runs and has not called out, and then it leaves its thread, and never calls out', async () => {
    const { tenant, begin, end, cancel, untilState, row, holdTokens, db, destination, metrics } = gateway.current;
    const { key, id: applicationId } = await gateway.current.caller(['token:use', 'token:create', 'token:read']);
    const token = await tenant.token({ data: 'x' });
    const { id } = await tenant.reactor({ code: readsThenCalls, applicationId });
    const release = await holdTokens();
    const runId = await begin(id, key, { token, url: `${destination.url}/too-late` });
    await untilState(runId, 'running');
    await untilLockIsAwaited(db);
    const running = async () => /^sluice_reactor_running (\d+)$/m.exec(await metrics.metrics())?.[1];
    expect(await running()).toBe('1');
    expect((await cancel(id, runId, key)).status).toBe(204);
    await eventually('its thread is free, although its call goes on', async () => (await running()) === '0');
    await release();
    await end(id, await begin(id, key, { token, url: `${destination.url}/in-time` }), key);
    expect(destination.seen.map(({ url }) => url)).toContain('/in-time');
    expect(destination.seen.map(({ url }) => url)).not.toContain('/too-late');
    expect(await row(runId)).toMatchObject({ state: 'cancelled', result_ciphertext: null });
  });

  test('writes one row: who cancelled which run of which reactor, under which trace', async () => {
    const { tenant, caller, begin, send, db } = gateway.current;
    using _ = gateway.current.holdDestination();
    const application = await caller();
    const { id } = await tenant.reactor({ code: callsOut });
    const session = await tenant.session(application.id, { reactors: [id] });
    await gateway.current.occupy(id, application.key);
    const cancelled = { operation: 'delete', entity_type: 'reactor_run', message: 'Reactor run cancelled' };
    for (const [who, key, application_id] of [
      ['application', application.key],
      ['session', session.key, application.id],
    ] as const) {
      const runId = await begin(id, key, {});
      const headers = { 'SVC-TRACE-ID': `by-${who}` };
      expect((await send('DELETE', `/reactors/${id}/results/${runId}`, key, { headers })).status).toBe(204);
      expect((await send('DELETE', `/reactors/${id}/results/${runId}`, key, { headers })).status).toBe(404);
      const rows = await db.selectFrom('audit_log').selectAll().where('entity_id', '=', runId).execute();
      const detail = { reactor_id: id, ...(application_id && { application_id }) };
      const by = { actor_type: who, actor_id: who === 'session' ? session.id : application.id };
      expect(rows).toEqual([expect.objectContaining({ ...cancelled, ...by, trace_id: `by-${who}`, detail })]);
    }
  });

  test('409 once it calls out, and once it has ended; then there is no row', async () => {
    const { tenant, begin, end, cancel, row, untilCalled, destination, db } = gateway.current;
    using held = gateway.current.holdDestination();
    const { key } = await gateway.current.caller();
    const { id } = await tenant.reactor({ code: callsOut });
    const runId = await begin(id, key, { url: `${destination.url}/calls-out` });
    await untilCalled('/calls-out');
    expect((await row(runId)).marked_at).not.toBeNull();
    expect((await cancel(id, runId, key)).status).toBe(409);
    held.release();
    expect((await end(id, runId, key)).body).toEqual({ raw: 200 });
    expect((await cancel(id, runId, key)).status).toBe(409);
    expect(await db.selectFrom('audit_log').select('id').where('entity_id', '=', runId).execute()).toEqual([]);
  });
});

describe('what happens to a run on its way', () => {
  test('of a session that has ended is refused when it begins', async () => {
    const { tenant, caller, begin, untilState, occupy, holdDestination, row, db, announce, destination } =
      gateway.current;
    using held = holdDestination();
    const application = await caller();
    const { id } = await tenant.reactor({ code: callsOut });
    const session = await tenant.session(application.id, { reactors: [id] });
    const [blocking = ''] = await occupy(id, application.key);
    const runId = await begin(id, session.key, { url: `${destination.url}/ended` });
    await db.deleteFrom('sessions').where('id', '=', session.id).execute();
    await announce(tenant.id, [tagOf.session(session.id)]);
    held.release();
    await untilState(blocking, 'done');
    await untilState(runId, 'failed');
    expect((await row(runId)).marked_at).toBeNull();
    expect(destination.seen.map(({ url }) => url)).not.toContain('/ended');
  });

  test('begins again after a pause where its reactor was changed while it read, and then runs the new code', async () => {
    const { tenant, caller, begin, end, untilState, holdTokens, row, db, announce } = gateway.current;
    const { key } = await caller();
    const token = await tenant.token({ data: 'x' });
    const { id } = await tenant.reactor({ code: 'module.exports = async () => ({ raw: "old" })' });
    const release = await holdTokens();
    const runId = await begin(id, key, `{{ ${token} }}`);
    await untilState(runId, 'running');
    await untilLockIsAwaited(db);
    const code = 'module.exports = async ({ args }) => ({ raw: ["new", args] })';
    await db.updateTable('reactors').set({ code }).where('id', '=', id).execute();
    await announce(tenant.id, [tagOf.reactor(id)]);
    const releasedAt = Date.now();
    await release();
    // Another run of the Tenant ends meanwhile, and gives its place back.
    expect((await end(id, await begin(id, key, 'y'), key)).body).toEqual({ raw: ['new', 'y'] });
    expect((await end(id, runId, key)).body).toEqual({ raw: ['new', 'x'] });
    const { tries, ended_at } = await row(runId);
    expect(tries).toBe(2);
    expect(Date.parse(ended_at ?? '')).toBeGreaterThanOrEqual(releasedAt + 1000);
  });

  test('has not failed if what it leaves cannot be counted', async () => {
    const { tenant, caller, begin, end, row, db } = gateway.current;
    const { key } = await caller();
    const { id } = await tenant.reactor({ code: 'module.exports = async () => { throw new Error("x") }' });
    await sql`create sequence refusals`.execute(db); // which a rollback does not reset
    await sql`alter table counters add constraint refused check (counter <> ${sql.lit(runBytesCounter)} or nextval('refusals') < 0) not valid`.execute(
      db,
    );
    const runId = await begin(id, key);
    await eventually('a count is refused', async () => {
      const { rows } = await sql<{ is_called: boolean }>`select is_called from refusals`.execute(db);
      return rows[0]?.is_called === true;
    });
    expect((await row(runId)).state).toBe('running');
    await sql`alter table counters drop constraint refused`.execute(db);
    expect((await end(id, await begin(id, key), key)).body).toMatchObject({ error: { status: 500 } }); // the control
  });

  slow('0.5 s')('a gateway that is asked to end gives back what has not called out, and another runs it', async () => {
    const { startAnother, createTenant, db, destination } = gateway.current;
    const tenant = await createTenant();
    const application = await tenant.application({ permissions: ['token:use', 'token:create', 'token:read'] });
    const token = await tenant.token({ data: 'x' });
    const { id } = await tenant.reactor({ code: readsThenCalls, applicationId: application.id });
    const { holdTokens, begin, untilState, row, end } = gateway.current;
    const stopping = new AsyncDisposableStack();
    const draining = new AbortController();
    await startAnother({}, { stack: stopping, draining: draining.signal });
    const release = await holdTokens();
    const args = { token, url: `${destination.url}/once` };
    const runs = [await begin(id, application.key, args), await begin(id, application.key, args)];
    for (const run of runs) await untilState(run, 'running');
    await untilLockIsAwaited(db);
    const stopped = stopping.disposeAsync();
    await release();
    await stopped;
    for (const run of runs) expect((await end(id, run, application.key)).body).toEqual({ raw: 200 });
    expect(destination.seen.filter(({ url }) => url === '/once')).toHaveLength(runs.length);
    expect((await Promise.all(runs.map(row))).every(({ tries }) => tries <= 2)).toBe(true);
  });
});
