import { randomUUID } from 'node:crypto';
import { serviceLogger } from '@sluice/service-runtime';
import { eventually, openRedisDoor, useStack } from '@sluice/testing';
import { openSharedLimits, type SharedLimit, type SharedLimits } from './index.ts';

const scene = useStack(async (stack) => {
  const door = await openRedisDoor(stack);
  const log = serviceLogger({ service: 'test', level: 'silent' }, { write: () => undefined });
  const config = { REDIS_URL: door.url, RATE_LIMIT_REDIS_TIMEOUT_MS: 500 };
  const open = () => {
    const shared = openSharedLimits(config, { log, stack });
    return { shared, limit: shared.limit({ kind: 'test', points: 10, windowSeconds: 60 }) };
  };
  const processes = [open(), open()] as const;
  for (const process of processes) await eventually('it is connected', () => isShared(process));
  return { door, processes };
});

interface Process {
  shared: SharedLimits;
  limit: SharedLimit;
}

async function isShared({ shared, limit }: Process): Promise<boolean> {
  const before = shared.decidedAlone;
  await limit.count(randomUUID());
  return shared.decidedAlone === before;
}

async function passed(id: string, points: readonly number[]): Promise<boolean[]> {
  const answers: boolean[] = [];
  for (const [i, count] of points.entries()) {
    const process = scene.current.processes[i % 2];
    if (process) answers.push((await process.limit.count(id, count)) === 0);
  }
  return answers;
}

test('processes count points together, and another id has its own', async () => {
  const id = randomUUID();
  expect(await passed(id, [4, 6, 1, 1])).toEqual([true, true, false, false]);
  expect(await passed(randomUUID(), [10, 1])).toEqual([true, false]);
});

test('what goes beyond uses the window up', async () => {
  expect(await passed(randomUUID(), [4, 7, 1])).toEqual([true, false, false]);
});

test('no points pass until the window is used up', async () => {
  expect(await passed(randomUUID(), [0, 10, 0, 1])).toEqual([true, true, true, false]);
});

test('while Redis is away each counts by itself, and together again afterwards', async () => {
  const { door, processes } = scene.current;
  const decided = () => processes.reduce((sum, { shared }) => sum + shared.decidedAlone, 0);
  const before = decided();
  await door.shut();
  expect(await passed(randomUUID(), [10, 10, 1, 1])).toEqual([true, true, false, false]);
  expect(decided() - before).toBe(4);
  await door.open();
  for (const process of processes) await eventually('it shares again', () => isShared(process));
  const after = decided();
  expect(await passed(randomUUID(), [10, 1])).toEqual([true, false]);
  expect(decided()).toBe(after);
});
