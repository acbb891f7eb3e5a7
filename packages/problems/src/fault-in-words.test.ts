import { faultInWords } from './fault-in-words.ts';

test.each([
  ['type', { type: 'integer' }, 'must be a whole number'],
  ['type', { type: ['object', 'null'] }, 'must be an object or null'],
  ['enum', { allowedValues: ['a', 'b'] }, 'must be one of a, b'],
  ['enum', { allowedValues: ['a', null] }, 'must be one of a, null'],
  ['minLength', { limit: 1 }, 'must not be empty'],
  ['minLength', { limit: 3 }, 'must have at least 3 characters'],
  ['maxLength', { limit: 200 }, 'may have at most 200 characters'],
  ['maxItems', { limit: 100 }, 'may have at most 100 items'],
  ['minProperties', { limit: 1 }, 'must not be empty'],
  ['minimum', { limit: 1 }, 'must be at least 1'],
  ['maximum', { limit: 100 }, 'must be at most 100'],
  ['pattern', { pattern: '^a$' }, 'must match the pattern ^a$'],
])('%s %j: %s', (keyword, params, words) => {
  expect(faultInWords({ keyword, params, message: 'as the validator says it' })).toBe(words);
});

test('a fault in the name of a member is not told of its value', () => {
  const fault = { keyword: 'maxLength', params: { limit: 200 }, propertyName: 'a'.repeat(201) };
  expect(faultInWords(fault)).toBe('has a field whose name is not allowed: it may have at most 200 characters');
});

test('what has no words of ours keeps the message of the validator', () => {
  expect(faultInWords({ keyword: 'uniqueItems', params: {}, message: 'must differ' })).toBe('must differ');
});
