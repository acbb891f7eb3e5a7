import { isFullRun } from '@sluice/testing';
import { type FaultContext, failuresOfRun } from '../faults/fault-test.ts';
import { essentialMutants, mutants } from './mutants.ts';
import { runWeakened } from './run-weakened.ts';

test('with a part of the protocol switched off the checker finds a violation; in the product as it is, none', async () => {
  const weakened = isFullRun ? mutants : essentialMutants;
  const run = (context: FaultContext) => runWeakened(context, weakened);
  expect(await failuresOfRun({ name: 'revocation-weakened', description: '', run })).toEqual([]);
});
