import type { Json } from '@sluice/vault';
import { detokenizeTogether } from './detokenize-together.ts';

function start() {
  const batches: (readonly Json[])[] = [];
  let atWork = 0;
  const detokenize = detokenizeTogether(async (values) => {
    batches.push(values);
    atWork += 1;
    expect(atWork).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    atWork -= 1;
    if (values.some((value) => Number(value) < 0)) throw new Error(`unknown: ${values}`);
    return values.map((value) => 2 * Number(value));
  });
  return { batches, detokenize };
}

test('calls of one turn are answered by one query, and later calls by another', async () => {
  const { batches, detokenize } = start();
  expect(await Promise.all([detokenize(1), detokenize(2), detokenize(3)])).toEqual([2, 4, 6]);
  expect(await detokenize(4)).toBe(8);
  expect(batches).toEqual([[1, 2, 3], [4]]);
});

test('one that fails does not fail those that were asked with it', async () => {
  const { batches, detokenize } = start();
  const answers = await Promise.allSettled([detokenize(1), detokenize(-1), detokenize(2)]);
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(batches).toEqual([[1, -1, 2], [1], [-1], [2]]);
});

test('calls that come while one is under way are asked together when it is over', async () => {
  const { batches, detokenize } = start();
  const first = detokenize(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(await Promise.all([first, detokenize(2), detokenize(3)])).toEqual([2, 4, 6]);
  expect(batches).toEqual([[1], [2, 3]]);
});
