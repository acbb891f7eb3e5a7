import { eventually, testRedisUrl, useStack } from '@sluice/testing';
import { Redis } from 'ioredis';
import { startTestManagement } from '../testing/test-management.ts';

const api = useStack((stack) => startTestManagement(stack));

test('an alarm is set only for an expiry that is near, so that Redis keeps none for long after a deletion', async () => {
  await using stack = new AsyncDisposableStack();
  const redis = new Redis(testRedisUrl());
  stack.defer(() => redis.disconnect());
  const create = async (expiresAt: Date): Promise<string> => {
    const { id } = await api.current.application({ expires_at: expiresAt.toISOString() });
    expect((await api.current.send('DELETE', `/applications/${id}`)).status).toBe(204);
    return id;
  };
  const far = [await create(new Date('9999-12-31')), await create(new Date(Date.now() + 24 * 3600_000))];
  const near = await create(new Date(Date.now() + 60_000));
  const alarms = async () => (await redis.zrange('{sluice:jobs}:application-expiry:delayed', '0', '-1')).join();
  await eventually('the near one has an alarm', async () => (await alarms()).includes(near));
  const set = await alarms();
  expect(far.filter((id) => set.includes(id))).toEqual([]);
});
