import { newFairQueue } from './fair-queue.ts';

const item = (tenantId: string, name: number) => ({ tenantId, name });

test('one Tenant alone is served in order', () => {
  const queue = newFairQueue<ReturnType<typeof item>>(3);
  for (const name of [1, 2, 3]) queue.add(item('a', name));
  expect([queue.take()?.name, queue.take()?.name, queue.take()?.name, queue.take()]).toEqual([1, 2, 3, undefined]);
});

test('a Tenant with less under way goes first', () => {
  const queue = newFairQueue<ReturnType<typeof item>>(3);
  for (const name of [1, 2, 3]) queue.add(item('a', name));
  const first = queue.take();
  queue.add(item('b', 4));
  expect(queue.take()?.name).toBe(4);
  if (first) queue.finish(first);
  queue.add(item('b', 5));
  expect([queue.take()?.name, queue.take()?.name, queue.take()?.name]).toEqual([2, 3, 5]);
  expect(queue.size).toBe(0);
});

test('what is removed is not taken', () => {
  const queue = newFairQueue<ReturnType<typeof item>>(3);
  const [first, second] = [item('a', 1), item('a', 2)];
  queue.add(first);
  queue.add(second);
  expect([queue.remove(first), queue.remove(first), queue.has(first)]).toEqual([true, false, false]);
  expect(queue.waiting()).toEqual([second]);
  expect(queue.take()).toBe(second);
});

test('a Tenant at its share waits, others do not', () => {
  const queue = newFairQueue<ReturnType<typeof item>>(1);
  for (const name of [1, 2]) queue.add(item('a', name));
  queue.add(item('b', 3));
  const first = queue.take();
  expect([first?.name, queue.take()?.name, queue.take()]).toEqual([1, 3, undefined]);
  expect(queue.size).toBe(1);
  if (first) queue.finish(first);
  expect(queue.take()?.name).toBe(2);
});

test('room is made by the newest of the Tenant that has the most waiting', () => {
  const queue = newFairQueue<ReturnType<typeof item>>(1);
  queue.add(item('b', 1));
  for (const name of [2, 3, 4]) queue.add(item('a', name));
  expect([queue.removeFromLongest()?.name, queue.removeFromLongest()?.name]).toEqual([4, 3]);
  expect(queue.waiting().map(({ name }) => name)).toEqual([1, 2]);
});
