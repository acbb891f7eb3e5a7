import { ServiceError } from '@sluice/problems';
import { type Expression, filterBudget, type Json, parseExpressions } from '@sluice/vault';
import { GuardedValues } from './guarded-values.ts';

const card = '4242424242424242';

function expression(text: string): Expression {
  const [only] = parseExpressions(text);
  if (only?.kind !== 'expression') throw new Error(`${text} is no expression`);
  return only;
}

test('strings and numbers of six characters and more are looked for, in objects and lists too', () => {
  const values = new GuardedValues();
  values.add(expression('{{ t }}'), {
    a: 'secret',
    b: ['short', 123456, [12345]],
    c: { d: null, e: true, f: 'name-of-it' },
  });
  expect(values.texts).toEqual(['secret', '123456', 'name-of-it']);
});

test('a value of two expressions belongs to the first, but counts for each', () => {
  const values = new GuardedValues();
  values.add(expression('{{ first }}'), card);
  values.add(expression('{{ second }}'), card);
  expect([values.texts, values.expressions, values.tokenIds, values.asked]).toEqual([
    [card],
    ['{{ first }}'],
    ['first'],
    2,
  ]);
});

test('whether values are equal decides about no error', () => {
  const half = 'x'.repeat(40 * 1024);
  const outcomes = [half, half.replace('x', 'y')].map((second) => {
    const values = new GuardedValues();
    values.add(expression('{{ first }}'), half);
    return () => values.add(expression('{{ second }}'), second);
  });
  for (const outcome of outcomes) expect(outcome).toThrow(expect.objectContaining({ code: 'payload_too_large' }));
});

test('a value that changes under its expression is looked for with both texts, and one that stays counts once', () => {
  const values = new GuardedValues();
  for (let at = 0; at < 5; at++) values.add(expression('{{ t }}'), ['x'.repeat(20_000)]);
  values.add(expression('{{ t }}'), ['the other one']);
  expect(values.texts).toEqual(['x'.repeat(20_000), 'the other one']);
});

const withFilter = (made: Json, data: Json = card, values = new GuardedValues()) => ({
  isTaken: values.addFiltered(expression("{{ card | append: 'some' }}"), made, data, filterBudget()),
  values,
});

test('of what a filter made, the data is looked for only if it is in it as a whole', () => {
  const made: [Json, Json][] = [
    ['4242', []],
    ['424242', ['424242']],
    [`card ${card}`, [`card ${card}`, card]],
    [Buffer.from(`ab${card}`).toString('base64'), [Buffer.from(`ab${card}`).toString('base64'), card]],
    [Buffer.from('a424242424242424').toString('base64'), [Buffer.from('a424242424242424').toString('base64')]],
    [{ number: card }, [card]],
  ];
  for (const [result, texts] of made) {
    const { isTaken, values } = withFilter(result);
    expect([isTaken, values.texts]).toEqual([true, texts]);
  }
});

test('the data of a filter has the expression without it, and both have the quotes that JSON needs not escape', () => {
  const values = new GuardedValues();
  const budget = filterBudget();
  values.addFiltered(expression('{{card|append:"x"}}'), `${card}x`, card, budget);
  expect(values.expressions).toEqual(["{{ card | append: 'x' }}", '{{ card }}']);
});

test('what a filter made has its own limit, and takes nothing of the others', () => {
  const values = new GuardedValues();
  expect(withFilter('x'.repeat(64 * 1024), null, values).isTaken).toBe(true);
  values.add(expression('{{ t }}'), 'y'.repeat(64 * 1024));
  const another = values.addFiltered(expression('{{ t | upcase }}'), 'another', null, filterBudget());
  expect([another, values.texts.length]).toEqual([false, 2]);
});

test('searching what a filter made takes from its budget, and too much of it is not taken', () => {
  const data = Array.from({ length: 900 }, (_, at) => `data-${at}`);
  expect(withFilter('x'.repeat(2_000), data).isTaken).toBe(false);
  expect(withFilter('x'.repeat(1_000), data).isTaken).toBe(true);
  const values = new GuardedValues();
  const budget = { ...filterBudget(), remaining: 100 };
  expect(values.addFiltered(expression('{{ t | upcase }}'), 'x'.repeat(1_000), data, budget)).toBe(false);
  expect(values.addFiltered(expression('{{ t | downcase }}'), 'short one', ['the data'], budget)).toBe(false);
});

const many = (count: number, length: number) => Array.from({ length: count }, (_, i) => `${i}`.padStart(length, 'x'));

test.each<[string, Json, Json]>([
  ['1,000 values', many(1_000, 6), many(1_001, 6)],
  ['64 KiB', ['x'.repeat(64 * 1024)], ['x'.repeat(64 * 1024 + 1)]],
  ['64 KiB, in UTF-8', ['é'.repeat(32 * 1024)], ['é'.repeat(32 * 1024), 'second']],
])('at most %s are looked for: more is 413, or for a filter false, and nothing of it is kept', (_, most, more) => {
  const filled = new GuardedValues();
  filled.add(expression('{{ t }}'), most);
  expect(filled.texts).toHaveLength((most as Json[]).length);

  const values = new GuardedValues();
  expect(() => values.add(expression('{{ t }}'), more)).toThrow(expect.objectContaining({ code: 'payload_too_large' }));
  expect(() => values.add(expression('{{ t }}'), more)).toThrow(ServiceError);
  expect(withFilter(more, null, values).isTaken).toBe(false);
  expect(values.texts).toEqual([]);
});

test('data with a hundred thousand members is walked, and only what is short may be made of it', () => {
  const data = Array.from({ length: 200_000 }, () => 'a value');
  expect([withFilter('short', data).isTaken, withFilter('not short', data).isTaken]).toEqual([true, false]);
  expect(() => new GuardedValues().add(expression('{{ t }}'), data)).toThrow(ServiceError);
});

test('the same expression is looked for again once it makes something else', () => {
  const values = new GuardedValues();
  withFilter('the first', null, values);
  withFilter('the second', null, values);
  expect(values.texts).toEqual(['the first', 'the second']);
});

test('values of the configuration are of no token', () => {
  const values = new GuardedValues();
  values.add({ reference: 'config: SECRET', filters: [] }, 'the secret');
  expect([values.expressions, values.tokenIds]).toEqual([['{{ config: SECRET }}'], [undefined]]);
});
