import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { mutants, mutate } from './mutants.ts';
import { scenarioOf } from './scenarios.ts';

const root = resolve(import.meta.dirname, '../../../..');

test.each(mutants)('mutant $name follows the product', async (mutant) => {
  const source = await readFile(resolve(root, mutant.file), 'utf8');
  expect(mutate(source, mutant)).not.toBe(source);
  expect(scenarioOf(mutant)).toBeDefined();
});

test('a mutant whose text is gone, or ambiguous, says so', () => {
  const mutant = { name: 'm', file: 'f.ts', edits: [['a', 'b']] as const };
  expect(() => mutate('x', mutant)).toThrow('found 0 times in f.ts');
  expect(() => mutate('aa', mutant)).toThrow('found 2 times in f.ts');
  expect(mutate('xa', mutant)).toBe('xb');
});
