import { Worker } from 'node:worker_threads';
import { partOfStrangers, readThreadTimes } from './threads.ts';

const at = (mainWaited: number, others: number) => ({ main: 0, mainWaited, others });

test('a core was shared with strangers for what the main thread waited beyond its helpers', () => {
  expect(partOfStrangers(at(1e9, 5e9), at(1.5e9, 5.4e9), 2)).toBeCloseTo(0.05);
  expect(partOfStrangers(at(1e9, 5e9), at(1.3e9, 5.4e9), 2)).toBe(0);
});

test('work of the main thread is its own, and that of another thread is not', async () => {
  const before = await readThreadTimes(process.pid);
  const worker = new Worker('for (let i = 0; i < 3e7; i += 1) Math.sqrt(i); setTimeout(() => {}, 1e9)', { eval: true });
  await new Promise((resolve) => worker.once('online', resolve));
  let after = await readThreadTimes(process.pid);
  while (after.others === before.others) after = await readThreadTimes(process.pid);
  await worker.terminate();
  expect(after.others).toBeGreaterThan(before.others);
  expect(after.main).toBeGreaterThan(before.main);
});
