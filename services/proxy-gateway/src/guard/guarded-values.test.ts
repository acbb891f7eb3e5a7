import { ServiceError } from '@sluice/problems';
import type { Json } from '@sluice/vault';
import { GuardedValues } from './guarded-values.ts';

const card = '4242424242424242';
const ofCard = { expression: '{{ card }}', data: card };

test('strings and numbers of six characters and more are looked for, in objects and lists too', () => {
  const values = new GuardedValues();
  values.add('{{ t }}', { a: 'secret', b: ['short', 123456, [12345]], c: { d: null, e: true, f: 'name-of-it' } });
  expect(values.texts).toEqual(['secret', '123456', 'name-of-it']);
});

test('a value of two expressions belongs to the first', () => {
  const values = new GuardedValues();
  values.add('{{ first }}', card);
  values.add('{{ second }}', card);
  expect([values.texts, values.expressions]).toEqual([[card], ['{{ first }}']]);
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
    const values = new GuardedValues();
    expect(values.addFiltered('{{ card | some }}', result, ofCard)).toBe(true);
    expect(values.texts).toEqual(texts);
  }
});

test('the data of a filter has the expression without it', () => {
  const values = new GuardedValues();
  values.addFiltered('{{ card | base64 }}', Buffer.from(card).toString('base64'), ofCard);
  expect(values.expressions).toEqual(['{{ card | base64 }}', '{{ card }}']);
});

const many = (count: number, length: number) => Array.from({ length: count }, (_, i) => `${i}`.padStart(length, 'x'));

test.each<[string, Json, Json]>([
  ['1,000 values', many(1_000, 6), many(1_001, 6)],
  ['64 KiB', ['x'.repeat(64 * 1024)], ['x'.repeat(64 * 1024 + 1)]],
  ['64 KiB, in UTF-8', ['é'.repeat(32 * 1024)], ['é'.repeat(32 * 1024), 'second']],
])('at most %s are looked for: more is 413, or for a filter false, and nothing of it is kept', (_, most, more) => {
  const filled = new GuardedValues();
  filled.add('{{ t }}', most);
  expect(filled.texts).toHaveLength((most as Json[]).length);
  filled.add('{{ t }}', most);

  const values = new GuardedValues();
  expect(() => values.add('{{ t }}', more)).toThrow(expect.objectContaining({ code: 'payload_too_large' }));
  expect(() => values.add('{{ t }}', more)).toThrow(ServiceError);
  expect(values.addFiltered('{{ t | x }}', more, { expression: '{{ t }}', data: null })).toBe(false);
  expect(values.texts).toEqual([]);
});
