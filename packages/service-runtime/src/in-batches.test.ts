import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inBatches } from './in-batches.ts';

const nextPhase = () => new Promise<void>((resolve) => setImmediate(resolve));

test('what comes in one phase is handled in the next, in order, and what comes meanwhile in the one after it', async () => {
  const handled: string[] = [];
  const add = inBatches((item: string) => {
    handled.push(item);
    if (item === 'a') add('later');
  });
  add('a');
  add('b');
  await Promise.resolve();
  expect(handled).toEqual([]);
  await nextPhase();
  expect(handled).toEqual(['a', 'b']);
  await nextPhase();
  expect(handled).toEqual(['a', 'b', 'later']);
  add('c');
  await nextPhase();
  expect(handled.at(-1)).toBe('c');
});

test('of very many, the first are not held up by all: others come in between', async () => {
  const handled: number[] = [];
  const add = inBatches((item: number) => handled.push(item));
  for (let i = 0; i < 100; i += 1) add(i);
  await nextPhase();
  expect(handled.length).toBeGreaterThan(1);
  expect(handled.length).toBeLessThan(100);
  while (handled.length < 100) await nextPhase();
  expect(handled).toEqual(Array.from({ length: 100 }, (_, index) => index));
});

test('promises of one go on when all of the batch have begun', async () => {
  const steps: string[] = [];
  const add = inBatches(async (item: string) => {
    steps.push(`${item} begins`);
    await undefined;
    steps.push(`${item} goes on`);
  });
  add('a');
  add('b');
  await nextPhase();
  await nextPhase();
  expect(steps).toEqual(['a begins', 'b begins', 'a goes on', 'b goes on']);
});

test('requests that a server reads at one time are a batch', async () => {
  const sizes: number[] = [];
  let begun = 0;
  const add = inBatches((answer: () => void) => {
    begun += 1;
    queueMicrotask(() => {
      if (begun > 0) sizes.push(begun);
      begun = 0;
    });
    answer();
  });
  const server = createServer((_, response) => add(() => response.end('ok')));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const answers = Array.from(
    { length: 50 },
    () =>
      new Promise<number | undefined>((resolve, reject) => {
        get({ host: '127.0.0.1', port, agent: false }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode));
        }).on('error', reject);
      }),
  );
  expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(50);
  server.close();
});
