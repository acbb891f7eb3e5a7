import { newFairQueue } from './fair-queue.ts';

const item = (tenantId: string, name: number) => ({ tenantId, name });

test('one Tenant alone is served in order', () => {
  const queue = newFairQueue<ReturnType<typeof item>>();
  for (const name of [1, 2, 3]) queue.add(item('a', name));
  expect([queue.take()?.name, queue.take()?.name, queue.take()?.name, queue.take()]).toEqual([1, 2, 3, undefined]);
});

test('a Tenant with less under way goes first', () => {
  const queue = newFairQueue<ReturnType<typeof item>>();
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
  const queue = newFairQueue<ReturnType<typeof item>>();
  const [first, second] = [item('a', 1), item('a', 2)];
  queue.add(first);
  queue.add(second);
  expect([queue.remove(first), queue.remove(first), queue.has(first)]).toEqual([true, false, false]);
  expect(queue.waiting()).toEqual([second]);
  expect(queue.take()).toBe(second);
});
