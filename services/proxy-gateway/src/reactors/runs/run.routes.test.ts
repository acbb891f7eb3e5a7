import { randomUUID } from 'node:crypto';
import { tagOf } from '@sluice/cache-coherence';
import { readCounter, runBytesCounter } from '@sluice/database';
import { testRedisUrl, useStack } from '@sluice/testing';
import { Redis } from 'ioredis';
import { callsOut, echo, openRunScene } from '../../testing/run-scene.ts';

const gateway = useStack((stack) => openRunScene(stack));

describe('a run', () => {
  test('is acknowledged at once, and its result is what react would have answered', async () => {
    const { tenant, ask, end, result } = gateway.current;
    const { key } = await gateway.current.caller();
    const token = await tenant.token({ data: { deep: [7] } });
    const { id } = await tenant.reactor({
      code: 'module.exports = async (req) => ({ raw: req.args, headers: { a: 1 }, tokenize: ["t"] })',
    });
    const asked = await ask(id, key, { body: { args: { value: `{{ ${token} }}` }, timeout_ms: 10_000 } });
    expect(asked).toMatchObject({ status: 202, body: { async_reactor_request_id: expect.any(String) } });
    const runId = String(asked.body.async_reactor_request_id);
    const { status, body } = await end(id, runId, key);
    expect([status, body]).toEqual([
      200,
      { raw: { value: { deep: [7] } }, headers: { a: 1 }, tokens: [expect.any(String)] },
    ]);
    expect((await result(id, runId, key)).body).toEqual(body); // it may be asked for again
  });

  test('fails with the problem that react would have been refused with', async () => {
    const { tenant, begin, end } = gateway.current;
    const { key } = await gateway.current.caller();
    const throws = await tenant.reactor({ code: 'module.exports = async () => { throw new Error("mine") }' });
    const failed = await end(throws.id, await begin(throws.id, key), key);
    expect(failed).toMatchObject({
      status: 200,
      body: { error: { status: 500, title: 'Reactor failed', detail: expect.stringContaining('mine') } },
    });
    const { id } = await tenant.reactor({ code: echo });
    const missing = await end(id, await begin(id, key, `{{ ${randomUUID()} }}`), key);
    expect(missing).toMatchObject({ status: 200, body: { error: { status: 400 } } });
  });

  test('what waits and what is kept is encrypted, Redis has ids only, and arguments go with the end', async () => {
    const { tenant, begin, end, row, db } = gateway.current;
    const redis = new Redis(testRedisUrl());
    using held = gateway.current.holdDestination();
    const { key } = await gateway.current.caller();
    const { id } = await tenant.reactor({
      code: 'module.exports = async (req) => { console.log("printed canary"); await fetch(req.args.url); return { raw: "result canary" } }',
    });
    await gateway.current.occupy(id, key);
    const runId = await begin(id, key, { url: gateway.current.destination.url, canary: 'argument canary' });
    const waiting = await row(runId);
    expect(waiting).toMatchObject({ state: 'waiting', result_ciphertext: null, claim_id: null });
    expect(String(waiting.arguments_ciphertext)).not.toContain('canary');
    for (const name of await redis.keys('*reactor-run:*')) {
      if ((await redis.type(name)) === 'hash')
        expect(JSON.stringify(await redis.hgetall(name))).not.toContain('canary');
    }
    redis.disconnect();
    const before = await readCounter(db, tenant.id, runBytesCounter);
    held.release();
    expect((await end(id, runId, key)).body).toEqual({ raw: 'result canary' });
    const ended = await row(runId);
    expect(ended).toMatchObject({ state: 'done', arguments_ciphertext: null, claim_id: null, lease_until: null });
    expect(String(ended.result_ciphertext) + String(ended.console_ciphertext)).not.toContain('canary');
    expect(ended.console_ciphertext).not.toBeNull();
    expect(await readCounter(db, tenant.id, runBytesCounter)).toBeGreaterThan(before);
  });

  test.each([
    ['token:use was taken from its caller', { permissions: ['token:create'] }, 403],
    ['its caller has expired', { expires_at: '2020-01-01T00:00:00Z' }, 401],
  ])('has the rights of the moment at which it runs: %s', async (_, change, status) => {
    const { tenant, begin, end, untilState, db, announce, destination } = gateway.current;
    using held = gateway.current.holdDestination();
    const [blocker, asker] = [await gateway.current.caller(), await gateway.current.caller()];
    const { id } = await tenant.reactor({ code: callsOut });
    const [blocking = ''] = await gateway.current.occupy(id, blocker.key);
    const runId = await begin(id, asker.key, { url: `${destination.url}/never` });
    const own = await gateway.current.caller();
    await db.updateTable('applications').set(change).where('id', '=', asker.id).execute();
    await announce(tenant.id, [tagOf.application(asker.id)]);
    held.release();
    await end(id, blocking, blocker.key);
    await untilState(runId, 'failed');
    expect(destination.seen.some(({ url }) => url === '/never')).toBe(false);
    // Who asked for it may do so again once it has the right again; nobody else sees the run
    expect((await gateway.current.result(id, runId, own.key)).status).toBe(404);
    await db
      .updateTable('applications')
      .set({ permissions: ['token:use'], expires_at: null })
      .where('id', '=', asker.id)
      .execute();
    await announce(tenant.id, [tagOf.application(asker.id)]);
    expect((await end(id, runId, asker.key)).body).toMatchObject({ error: { status } });
  });

  test('of a session runs as the session, and belongs to it', async () => {
    const { tenant, begin, end, result } = gateway.current;
    const application = await gateway.current.caller();
    const { id } = await tenant.reactor({ code: echo });
    const session = await tenant.session(application.id, { reactors: [id] });
    const token = await tenant.token({ data: 'value' });
    const runId = await begin(id, session.key, `{{ ${token} }}`);
    expect((await end(id, runId, session.key)).body).toEqual({ raw: 'value' });
    expect((await result(id, runId, application.key)).status).toBe(404);
  });

  test('its tokens, its result and its end are one transaction', async () => {
    const { tenant, begin, end, row, db } = gateway.current;
    const taken = await tenant.token({ data: 'former' });
    const count = async () =>
      (await db.selectFrom('tokens').select('id').where('tenant_id', '=', tenant.id).execute()).length;
    const before = await count();
    const { key } = await gateway.current.caller();
    const code = `module.exports = async () => ({ raw: 1, tokenize: [{ type: 'token', data: 'new' }, { id: '${taken}', type: 'token', data: 'x' }] })`;
    const { id } = await tenant.reactor({ code });
    const runId = await begin(id, key);
    expect((await end(id, runId, key)).body).toMatchObject({ error: { status: 409 } });
    expect((await row(runId)).state).toBe('failed');
    expect(await count()).toBe(before);
  });

  test('sends one CDN-Loop more than its request had', async () => {
    const { tenant, ask, end, destination } = gateway.current;
    const { key } = await gateway.current.caller();
    const { id } = await tenant.reactor({ code: callsOut });
    const asked = await ask(id, key, {
      body: { args: { url: `${destination.url}/loop` } },
      headers: { 'CDN-Loop': 'other, sluice' },
    });
    await end(id, String(asked.body.async_reactor_request_id), key);
    expect(destination.seen.find(({ url }) => url === '/loop')?.headers['cdn-loop']).toBe('other, sluice, sluice');
    const tooMany = await ask(id, key, { headers: { 'CDN-Loop': 'sluice, sluice, sluice, sluice' } });
    expect(tooMany.status).toBe(508);
  });
});
