import { ForbiddenError, SluiceError, ValidationError } from '@sluice/sdk';
import { faultInWords, faultsIn, fieldOf, otherFaultInWords, placeIn } from './faults-in-words.ts';

const failure = { operation: 'POST /proxies', status: 400, title: 'Invalid' };

test('a field shows the faults of its member and of all below that no other field sets', () => {
  const names = ['name', 'rules', 'rules[1]', 'rules[1].container', 'application', 'configuration'];
  const owners = ['name', 'rules[0].container', 'rules[1].container', 'rules[1].priority', 'application.id', 'names'];
  expect(owners.map((path) => fieldOf(path, names))).toEqual([
    ...['name', 'rules', 'rules[1].container', 'rules[1]', 'application', undefined],
  ]);
  expect(fieldOf('rules[10].container', ['rules[1].container', 'rules[1]'])).toBeUndefined();
});

test.each<[path: string, name: string, message: string, words: string]>([
  ['name', 'name', 'is required', 'Label is required.'],
  ['allowed_methods[1]', 'allowed_methods', 'must be a method', 'Entry 2 must be a method.'],
  ['configuration.API_KEY', 'configuration', 'is required', 'API_KEY is required.'],
  [
    'a',
    'a',
    '"proxy:read" cannot be held by a private Application',
    '"proxy:read" cannot be held by a private Application.',
  ],
  ['a', 'a', 'must be https (DESTINATION_SCHEMES)', 'Label must be https.'],
  ['use.until', 'use.until', 'only some may allow more', 'Only some may allow more.'],
  ['a', 'a', 'Unexpected token (line 2, column 5)', 'Unexpected token (line 2, column 5).'],
])('%s at the field %s: %s', (path, name, message, words) => {
  expect(faultInWords(path, [message], { name, label: 'Label' })).toBe(words);
});

test('what no field sets is named in words', () => {
  expect(otherFaultInWords('rules[0].head_timeout', ['is required'])).toBe('Rules 1 head timeout is required.');
  expect(otherFaultInWords('head_timeout_s', ['must be a number'])).toBe('Time limit of a response must be a number.');
  expect(otherFaultInWords('args.card', ['is required'])).toBe('req.args card is required.');
  expect(otherFaultInWords('$', ['must be an object'])).toBe('The request must be an object.');
});

test('a refusal names its member at the beginning of its detail; text that names no field is not taken for one', () => {
  const refused = new ForbiddenError({ ...failure, detail: 'use.until: only some may allow more' });
  expect(faultsIn(refused, ['use.methods', 'use.until'])).toEqual([['use.until', ['only some may allow more']]]);
  expect(faultsIn(refused, ['use'])).toEqual([]);
  expect(faultsIn(new SluiceError({ ...failure, detail: 'name' }), ['name'])).toEqual([]);
  expect(faultsIn(new ValidationError({ ...failure, errors: { name: ['is required'] } }), [])).toEqual([
    ['name', ['is required']],
  ]);
});

test('the place of a mistake in code is read from the end of the message', () => {
  expect(placeIn("Unexpected token ')' (line 12, column 3)")).toEqual({ line: 12, column: 3 });
  expect(placeIn('It used too much memory')).toBeUndefined();
});
