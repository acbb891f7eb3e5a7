import { randomUUID } from 'node:crypto';
import { runConsole, runResult } from '@sluice/database';
import { openTestCoherence, useStack } from '@sluice/testing';
import { assembleVault, encryptSecret, localKeyWrapper } from '@sluice/vault';
import { isoDate, startTestManagement } from '../../testing/test-management.ts';

const printed = [{ level: 'info', text: 'charged [redacted]' }];

const api = useStack(async (stack) => {
  const management = await startTestManagement(stack);
  const { db, databaseUrl, secrets } = management;
  const { caches, changes } = await openTestCoherence({ db, url: databaseUrl }, stack);
  const keyWrapper = localKeyWrapper(secrets.ROOT_KEY);
  const vault = assembleVault({ db, caches, changes, keyWrapper, disclosures: { record: async () => {} } });

  async function createReactor(tenant_id = management.tenant.tenant_id): Promise<string> {
    const id = randomUUID();
    const reactor = { tenant_id, id, name: 'R', code: 'module.exports = () => ({})' };
    await db.insertInto('reactors').values(reactor).execute();
    return id;
  }

  /** It is done, began 2 s after it was asked for, and took 250 ms. */
  async function createRun(reactor_id: string, part: { tenant_id?: string; created_by?: string; ageMs?: number } = {}) {
    const { ageMs = 60_000, ...members } = part;
    const run = { tenant_id: management.tenant.tenant_id, id: randomUUID(), created_by: randomUUID(), ...members };
    const at = (ms: number) => new Date(Date.now() - ageMs + ms).toISOString();
    const place = { tenantId: run.tenant_id, recordId: run.id };
    const times = { created_at: at(0), started_at: at(2000), ended_at: at(2250) };
    await db
      .insertInto('reactor_runs')
      .values({
        ...{ ...run, ...times, reactor_id, state: 'done', caller_type: 'application', trace_id: 'trace' },
        ...{ retryable: false, timeout_ms: 60_000 },
        result_ciphertext: await encryptSecret(vault, { ...place, ...runResult }, '{"raw":"secret result"}'),
        console_ciphertext: await encryptSecret(vault, { ...place, ...runConsole }, JSON.stringify(printed)),
      })
      .execute();
    return run;
  }

  const list = (reactorId: string, key: string, query = '') =>
    management.send('GET', `/reactors/${reactorId}/results${query}`, { key });
  return { ...management, createReactor, createRun, list };
});

const idsOf = ({ body }: { body: { data: { id: string }[] } }) => body.data.map(({ id }) => id);

test('200: all runs to reactor:read without result and console, the console to reactor:update', async () => {
  const { createReactor, createRun, list, keyWith } = api.current;
  const reactorId = await createReactor();
  const run = await createRun(reactorId);
  await createRun(await createReactor());
  const shown = { id: run.id, created_by: run.created_by, state: 'done', duration_ms: 250 };
  const times = { created_at: isoDate, started_at: isoDate, ended_at: isoDate };
  const reading = await list(reactorId, await keyWith('reactor:read'));
  expect(reading).toMatchObject({ status: 200, body: { pagination: { page_size: 20 } } });
  expect(reading.body.data).toEqual([{ ...shown, ...times }]);
  const updating = await list(reactorId, await keyWith('reactor:read', 'reactor:update'));
  expect(updating.body.data).toEqual([{ ...shown, ...times, console: printed }]);
});

test('200: to token:use what it asked for itself, and no console', async () => {
  const { createReactor, createRun, list, application } = api.current;
  const reactorId = await createReactor();
  const caller = await application({ permissions: ['token:use'] });
  const own = await createRun(reactorId, { created_by: caller.id });
  await createRun(reactorId);
  const { body } = await list(reactorId, caller.key);
  expect(body.data).toEqual([expect.objectContaining({ id: own.id, created_by: caller.id })]);
  expect(body.data[0]).not.toHaveProperty('console');
});

test('pages by cursor, newest first; a run that ended a day ago is gone', async () => {
  const { createReactor, createRun, list, keyWith } = api.current;
  const reactorId = await createReactor();
  const ids: string[] = [];
  for (let minutes = 1; minutes <= 5; minutes++) ids.push((await createRun(reactorId, { ageMs: minutes * 60_000 })).id);
  await createRun(reactorId, { ageMs: 24 * 3600_000 + 60_000 });
  const key = await keyWith('reactor:read');
  const first = await list(reactorId, key, '?size=3');
  const { next } = first.body.pagination;
  const second = await list(reactorId, key, `?size=3&start=${next}`);
  expect([...idsOf(first), ...idsOf(second)]).toEqual(ids);
  expect(second.body.pagination).toEqual({ page_size: 3 });
  const other = await createReactor();
  expect(await list(other, key, `?start=${next}`)).toMatchObject({ status: 400 });
  expect(await list(reactorId, key, '?size=101')).toMatchObject({ status: 400 });
});

test('403 with neither permission; 404 for an unknown reactor and another Tenant’s; 401 without a key', async () => {
  const { createReactor, createRun, list, keyWith, stranger, send } = api.current;
  const detail = 'This operation needs the permission reactor:read or token:use';
  expect(await list('not-a-uuid', await keyWith('proxy:read'))).toMatchObject({ status: 403, body: { detail } });
  const theirs = await createReactor(stranger.tenant_id);
  await createRun(theirs, { tenant_id: stranger.tenant_id });
  const key = await keyWith('reactor:read');
  for (const id of [theirs, randomUUID()]) expect(await list(id, key)).toMatchObject({ status: 404 });
  expect(await list('not-a-uuid', key)).toMatchObject({ status: 400 });
  expect(await list(theirs, stranger.management_key)).toMatchObject({ status: 200, body: { data: [{}] } });
  expect(await send('GET', `/reactors/${theirs}/results`, { key: '' })).toMatchObject({ status: 401 });
});
