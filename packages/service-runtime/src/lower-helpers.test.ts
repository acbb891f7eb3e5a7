import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { lowerLibuvThreads } from './lower-helpers.ts';

function prioritiesByName(): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const id of readdirSync('/proc/self/task')) {
    const name = readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim();
    found.set(name, [...(found.get(name) ?? []), getPriority(Number(id))]);
  }
  return found;
}

test('libuv’s threads come after the main thread, whose priority stays', async () => {
  const main = getPriority(process.pid);
  await lowerLibuvThreads(7);
  const priorities = prioritiesByName().get('libuv-worker') ?? [];
  expect(priorities.length).toBeGreaterThanOrEqual(4);
  expect(new Set(priorities)).toEqual(new Set([7]));
  expect(getPriority(process.pid)).toBe(main);
});
