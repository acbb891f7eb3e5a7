import { readdir } from 'node:fs/promises';
import { fullRunOnly } from '@sluice/testing';
import { folder, readRunbook, rehearsals, testRunbooks, useRehearsals } from './rehearse.ts';

const rehearse = useRehearsals();

test('every runbook is rehearsed', async () => {
  const names = (await readdir(folder)).filter((name) => name !== 'README.md');
  expect(Object.values(rehearsals).flat().sort()).toEqual(names.sort());
});

fullRunOnly()('a command that does not do what the runbook says is noticed', async () => {
  const blocks = await readRunbook('leaked-key.md');
  const damaged = blocks.map((block) => ({ ...block, script: block.script.replace('/regenerate', '') }));
  expect(damaged).not.toEqual(blocks);
  expect(await rehearse(damaged)).toEqual([expect.stringMatching(/^the block of line \d+ failed \(1\)/)]);
});

testRunbooks(rehearsals.data, rehearse);
