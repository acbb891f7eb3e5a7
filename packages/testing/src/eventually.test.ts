import { eventually, waitUntil } from './eventually.ts';

test('it says whether the condition held in time', async () => {
  let looks = 0;
  expect(await waitUntil(() => ++looks === 3, 5000)).toBe(true);
  expect(looks).toBe(3);
  expect(await waitUntil(() => false, 50)).toBe(false);
});

test('a condition that fails, and a signal, end the wait', async () => {
  await expect(waitUntil(() => Promise.reject(new Error('no answer')), 5000)).rejects.toThrow('no answer');
  await expect(eventually('an answer', () => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');
  await expect(waitUntil(() => false, 5000, AbortSignal.timeout(20))).rejects.toThrow(/abort/);
});
