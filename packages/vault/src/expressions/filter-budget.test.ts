import { slow } from '@sluice/testing';
import { type Expression, evaluateExpression, filterBudget, type Json, parseExpressions } from '../index.ts';
import { requireUnspent } from './filter-budget.ts';
import { fillTemplate } from './template.ts';

const expressions = (text: string) =>
  parseExpressions(text).filter((segment): segment is Expression => segment.kind === 'expression');

const large = 'x'.repeat(2 ** 20);

test('the filters of a request share what they may go through; data without filters costs nothing', () => {
  const [filtered, plain] = expressions('{{ a | last4 }}{{ a }}');
  if (!filtered || !plain) throw new Error('two expressions');
  const budget = filterBudget();
  for (let i = 0; i < 7; i++) expect(evaluateExpression(filtered, large, budget)).toBe('xxxx');
  for (let i = 0; i < 100; i++) expect(evaluateExpression(plain, large, budget)).toBe(large);
  expect(() => requireUnspent(budget)).not.toThrow();
  expect(evaluateExpression(filtered, large, budget)).toBeNull();
  expect(evaluateExpression(filtered, '', budget)).toBeNull();
  expect(() => requireUnspent(budget)).toThrow(expect.objectContaining({ code: 'payload_too_large' }));
});

test('what was filtered for earlier requests limits no later one', () => {
  const [filtered] = expressions('{{ a | upcase | size }}');
  if (!filtered) throw new Error('an expression');
  for (let i = 0; i < 100; i++) expect(evaluateExpression(filtered, large)).toBe(large.length);
});

slow('2.1 s')('a template cannot go through a value without end', () => {
  const mask = Array.from({ length: 50 }, () => `{{ data ${'| reveal_last '.repeat(10)}}}`);
  expect((fillTemplate(mask, large) as Json[]).at(-1)).toBeNull();
});

test('an expression has at most 10 filters, a text at most 10,000 expressions', () => {
  const refused = expect.objectContaining({ code: 'bad_request' });
  expect(expressions(`{{ a ${'| upcase '.repeat(10)}}}`)).toHaveLength(1);
  expect(() => expressions(`{{ a ${'| upcase '.repeat(11)}}}`)).toThrow(refused);
  expect(expressions('{{a}}'.repeat(10_000))).toHaveLength(10_000);
  expect(() => expressions('{{a}}'.repeat(10_001))).toThrow(refused);
});
