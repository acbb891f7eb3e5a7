import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from '@sluice/local/parts';
import { mutants, mutate } from './mutants.ts';
import { scenarioOf } from './scenarios.ts';

test.each(mutants)('mutant $name follows the product', async (mutant) => {
  const source = await readFile(join(repositoryRoot, mutant.file), 'utf8');
  expect(mutate(source, mutant)).not.toBe(source);
  expect(scenarioOf(mutant)).toBeDefined();
});

test('a mutant whose text is gone, or ambiguous, says so', () => {
  const mutant = { name: 'm', file: 'f.ts', service: 'proxy-gateway', edits: [['a', 'b']] } as const;
  expect(() => mutate('x', mutant)).toThrow('found 0 times in f.ts');
  expect(() => mutate('aa', mutant)).toThrow('found 2 times in f.ts');
  expect(mutate('xa', mutant)).toBe('xb');
});
