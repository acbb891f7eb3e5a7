import { newFairQueue, type QueueItem, type Shares } from './fair-queue.ts';

interface Item extends QueueItem {
  name: number;
}

const item = (tenantId: string, name: number, isDoubtful = false): Item => ({
  tenantId,
  name,
  isDoubtful: () => isDoubtful,
});
const newQueue = (tenant: number, shares: Partial<Shares> = {}) =>
  newFairQueue<Item>(() => ({ tenant, doubtfulOfTenant: tenant, doubtful: 10, ...shares }));

test('one Tenant alone is served in order', () => {
  const queue = newQueue(3);
  for (const name of [1, 2, 3]) queue.add(item('a', name));
  expect([queue.take()?.name, queue.take()?.name, queue.take()?.name, queue.take()]).toEqual([1, 2, 3, undefined]);
});

test('a Tenant with less under way goes first', () => {
  const queue = newQueue(3);
  for (const name of [1, 2, 3]) queue.add(item('a', name));
  const first = queue.take();
  queue.add(item('b', 4));
  expect(queue.take()?.name).toBe(4);
  if (first) queue.finish(first);
  queue.add(item('b', 5));
  expect([queue.take()?.name, queue.take()?.name, queue.take()?.name]).toEqual([2, 5, 3]);
  expect(queue.size).toBe(0);
});

test('what is removed is not taken', () => {
  const queue = newQueue(3);
  const [first, second] = [item('a', 1), item('a', 2)];
  queue.add(first);
  queue.add(second);
  expect([queue.remove(first), queue.remove(first), queue.has(first)]).toEqual([true, false, false]);
  expect(queue.waiting()).toEqual([second]);
  expect(queue.take()).toBe(second);
});

test('a Tenant at its share waits, others do not', () => {
  const queue = newQueue(1);
  for (const name of [1, 2]) queue.add(item('a', name));
  queue.add(item('b', 3));
  const first = queue.take();
  expect([first?.name, queue.take()?.name, queue.take()]).toEqual([1, 3, undefined]);
  expect(queue.size).toBe(1);
  if (first) queue.finish(first);
  expect(queue.take()?.name).toBe(2);
});

test('room is made by the newest of the Tenant that has the most waiting', () => {
  const queue = newQueue(1);
  queue.add(item('b', 1));
  for (const name of [2, 3, 4]) queue.add(item('a', name));
  expect([queue.removeFromLongest()?.name, queue.removeFromLongest()?.name]).toEqual([4, 3]);
  expect(queue.waiting().map(({ name }) => name)).toEqual([1, 2]);
});

test('of doubtful items one Tenant and all together hold no more than their shares; others overtake them', () => {
  const queue = newQueue(3, { doubtfulOfTenant: 1, doubtful: 2 });
  for (const [tenantId, name] of [
    ['a', 1],
    ['a', 2],
    ['b', 3],
    ['c', 4],
  ] as const)
    queue.add(item(tenantId, name, true));
  queue.add(item('a', 5));
  queue.add(item('c', 6));
  const taken = Array.from({ length: 4 }, () => queue.take());
  expect([...taken.map((one) => one?.name), queue.take()]).toEqual([1, 3, 6, 5, undefined]);
  if (taken[1]) queue.finish(taken[1]);
  expect([queue.take()?.name, queue.take()]).toEqual([4, undefined]);
  if (taken[0]) queue.finish(taken[0]);
  expect([queue.take()?.name, queue.size]).toEqual([2, 0]);
});

test('doubt is asked for when the turn comes, not before', () => {
  const queue = newQueue(3, { doubtful: 0 });
  let isDoubtful = true;
  queue.add({ tenantId: 'a', name: 1, isDoubtful: () => isDoubtful });
  expect(queue.take()).toBeUndefined();
  isDoubtful = false;
  expect(queue.take()?.name).toBe(1);
});

test('of Tenants with as much under way, the one that was served longest ago goes first, not the one with the older items', () => {
  const queue = newQueue(1);
  for (const name of [1, 2, 3]) queue.add(item('flood', name));
  queue.add(item('small', 4));
  const order: (number | undefined)[] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    const taken = queue.take();
    order.push(taken?.name);
    if (taken) queue.finish(taken);
  }
  expect(order).toEqual([1, 4, 2, 3]);
});

test('where doubtful items come last, they start when nothing else may', () => {
  const queue = newQueue(1, { doubtfulLast: true });
  for (const name of [1, 2]) queue.add(item('slow', name, true));
  const first = queue.take();
  for (const name of [3, 4]) queue.add(item('new', name));
  queue.add(item('other slow', 5, true));
  if (first) queue.finish(first);
  const served = [1];
  for (let next = queue.take(); next; next = queue.take()) {
    served.push(next.name);
    queue.finish(next);
  }
  expect(served).toEqual([1, 3, 4, 5, 2]);
});
