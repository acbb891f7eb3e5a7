import { patternForms } from '@sluice/http-api';
import { operations } from './reference.ts';

test('an error says in words what each pattern of a body or query allows', () => {
  const patterns = new Set(operations.flatMap(({ body, query }) => patternsIn([body, query])));
  expect(patterns.size).toBeGreaterThan(3);
  expect([...patterns].filter((pattern) => !Object.hasOwn(patternForms, pattern))).toEqual([]);
});

function patternsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = 'pattern' in value && typeof value.pattern === 'string' ? [value.pattern] : [];
  return [...own, ...Object.values(value).flatMap(patternsIn)];
}
