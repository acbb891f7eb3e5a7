import { setImmediate } from 'node:timers/promises';
import { TenantQueue } from './tenant-queue.ts';

const stays = () => undefined;

function testQueue(mostWaiting = 10) {
  const queue = new TenantQueue(mostWaiting);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  /** Works until `endNext`. */
  const run = (name: string, { tenantId = 't', lane = 'a', whenLeft = stays as (act: () => void) => void } = {}) =>
    queue.run({ tenantId, lane, whenLeft }, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
      return name;
    });
  const endNext = async () => {
    ends.shift()?.();
    await setImmediate();
  };
  return { begun, run, endNext };
}

test('work of one Tenant is done one after another, that of another Tenant beside it', async () => {
  const { begun, run, endNext } = testQueue();
  const all = [run('1'), run('2'), run('other', { tenantId: 'u' })];
  expect(begun).toEqual(['1', 'other']);
  await endNext();
  expect(begun).toEqual(['1', 'other', '2']);
  await endNext();
  await endNext();
  expect(await Promise.all(all)).toEqual(['1', '2', 'other']);
});

test('beyond the most that may wait, the last of the longest lane is refused', async () => {
  const { begun, run, endNext } = testQueue(3);
  const outcomes: string[] = [];
  const noted = (name: string) =>
    run(name, { lane: name[0] ?? '' }).then(
      () => outcomes.push(`${name} done`),
      ({ code, retryAfterSeconds }) => outcomes.push(`${name} ${code} ${retryAfterSeconds}`),
    );
  const all = ['a0', 'a1', 'a2', 'a3', 'a4', 'b1'].map(noted);
  await setImmediate();
  expect(outcomes).toEqual(['a4 too_many_requests 1', 'a3 too_many_requests 1']);
  for (const _ of all) await endNext();
  expect(begun).toEqual(['a0', 'b1', 'a1', 'a2']);
});

test('who has left is not waited for, and gives up its place', async () => {
  const { begun, run, endNext } = testQueue(1);
  const first = run('first');
  let leave = () => {};
  const whenLeft = (act: () => void) => {
    leave = act;
  };
  const left = run('left', { whenLeft });
  leave();
  await expect(left).rejects.toMatchObject({ code: 'bad_request' });
  const second = run('second');
  await endNext();
  await endNext();
  leave();
  expect([begun, await first, await second]).toEqual([['first', 'second'], 'first', 'second']);
});
