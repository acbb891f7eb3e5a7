import { hashKey, readPepper } from '@sluice/credentials';
import { eventually, openTenantDoor, slow, type TenantDoor, untilLockIsAwaited, useStack } from '@sluice/testing';
import { startTestManagement } from '../testing/test-management.ts';

const poolSize = 4;

const world = useStack(async (stack) => {
  let door: TenantDoor | undefined;
  const settings = { DATABASE_POOL_SIZE: `${poolSize}`, DATABASE_WAIT_MS: '20000' };
  const api = await startTestManagement(stack, settings, async (url) => {
    door = await openTenantDoor(url, stack);
    return door.url;
  });
  if (!door) throw new Error('The service uses no door');
  return { api, door };
});

/** What another Tenant does meanwhile, one after another: it reads, and it changes. */
async function useAsStranger(): Promise<number[]> {
  const { api } = world.current;
  const key = api.stranger.management_key;
  const statuses: number[] = [];
  for (let i = 0; i < 5; i++) {
    statuses.push((await api.send('GET', '/applications', { key })).status);
    const body = { name: 'B', type: 'private', permissions: ['token:read'] };
    statuses.push((await api.send('POST', '/applications', { key, body })).status);
  }
  return statuses;
}

const served = Array.from({ length: 5 }, () => [200, 201]).flat();

slow('1.6 s')(
  'while 150 regenerate one Application that is locked, one waits in Postgres, and another Tenant is served',
  async () => {
    const { api } = world.current;
    const { id } = await api.application();
    const lock = await api.db.startTransaction().execute();
    await using _ended = {
      [Symbol.asyncDispose]: async () =>
        void (lock.isCommitted || lock.isRolledBack || (await lock.rollback().execute())),
    };
    await lock.selectFrom('applications').select('id').where('id', '=', id).forUpdate().execute();
    let answered = 0;
    const flood = Array.from({ length: 150 }, async () => {
      const { status } = await api.send('POST', `/applications/${id}/regenerate`);
      answered += 1;
      return status;
    });
    await untilLockIsAwaited(api.db);
    expect(await useAsStranger()).toEqual(served);
    expect(await api.readiness.missing()).toEqual({});
    expect(answered).toBe(0); // the control: the flood was there all the while
    await lock.rollback().execute();
    await Promise.all(flood);
  },
);

test.each([
  ['GET', '/logs?size=100&page=200'],
  ['GET', '/applications?size=100&page=200'],
  ['PUT', '/tenants/self'],
])('while every statement of a Tenant hangs, its %s %s keep nobody waiting', async (method, path) => {
  const { api, door } = world.current;
  door.hold(api.tenant.tenant_id);
  let answered = 0;
  const options = method === 'PUT' ? { body: { name: 'Tenant' } } : {};
  const flood = Array.from({ length: 150 }, async () => {
    const { status } = await api.send(method, path, options);
    answered += 1;
    return status;
  });
  await using _released = { [Symbol.asyncDispose]: async () => door.release() };
  await eventually('the Tenant uses its share', () => door.held() >= (method === 'PUT' ? 1 : poolSize / 2));
  expect(await useAsStranger()).toEqual(served);
  expect(await api.readiness.missing()).toEqual({});
  expect(door.held()).toBeLessThanOrEqual(poolSize / 2 + 1); // one is the outbox, by a connection of its own
  expect(answered).toBe(0);
  door.release();
  await Promise.all(flood);
});

slow('0.4 s')(
  "while every look-up of a Tenant's key hangs, those of another Tenant's keys do not wait for them",
  async () => {
    const { api, door } = world.current;
    const readOwn = () => api.send('GET', '/tenants/self');
    expect((await readOwn()).status).toBe(200);
    expect(await useAsStranger()).toEqual(served);
    door.hold(hashKey(readPepper(api.secrets.KEY_PEPPER), api.tenant.management_key));
    let answered = 0;
    const flood = Array.from({ length: 150 }, async () => {
      await readOwn();
      answered += 1;
    });
    await using _released = { [Symbol.asyncDispose]: async () => door.release() };
    await eventually('the Tenant uses its share', () => door.held() === poolSize / 2);
    expect(await useAsStranger()).toEqual(served);
    expect(answered).toBe(0); // the control: the flood was there all the while
    door.release();
    await Promise.all(flood);
  },
);

slow('0.4 s')('a Tenant that uses its share waits for a while, then it alone is told to try again', async () => {
  await using stack = new AsyncDisposableStack();
  let door: TenantDoor | undefined;
  const settings = { DATABASE_POOL_SIZE: `${poolSize}`, DATABASE_WAIT_MS: '1000' };
  const api = await startTestManagement(stack, settings, async (url) => {
    door = await openTenantDoor(url, stack);
    return door.url;
  });
  door?.hold(api.tenant.tenant_id);
  let answered = 0;
  const flood = Array.from({ length: 20 }, async () => {
    const answer = await api.send('GET', '/applications');
    answered += 1;
    return answer;
  });
  const refused = await Promise.any(flood);
  expect(refused).toMatchObject({ status: 503, body: { detail: expect.stringContaining('send fewer at a time') } });
  expect(refused.headers.get('retry-after')).toBe('1');
  const other = await api.send('GET', '/applications', { key: api.stranger.management_key });
  expect(other.status).toBe(200);
  await eventually('all but its share are refused', () => answered === 20 - poolSize / 2);
  door?.release();
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(poolSize / 2);
  expect(await api.metrics.metrics()).toMatch(/^sluice_limit_refusals_total\{limit="database_connections"\} 18$/m);
});
