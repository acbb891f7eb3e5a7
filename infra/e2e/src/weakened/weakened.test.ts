import { failuresOfRun } from '../faults/fault-test.ts';
import { runWeakened } from './run-weakened.ts';

test('with each part of the protocol switched off the checker finds a violation; in the product as it is, none', async () => {
  expect(await failuresOfRun({ name: 'revocation-weakened', description: '', run: runWeakened })).toEqual([]);
});
