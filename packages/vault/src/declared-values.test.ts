import type { DeclaredMember } from '@sluice/database';
import { castDeclared } from './declared-values.ts';
import type { Json } from './json.ts';

const declare = (type: DeclaredMember['type']): DeclaredMember[] => [{ name: 'a', type }];

test.each<[DeclaredMember['type'], Json, Json]>([
  ['string', 'x', 'x'],
  ['string', '', ''],
  ['string', 5, '5'],
  ['string', true, 'true'],
  ['boolean', false, false],
  ['boolean', 'true', true],
  ['boolean', 'false', false],
  ['number', 1.5, 1.5],
  ['number', '-12.50', -12.5],
  ['number', '1e3', 1000],
  ['number', '9007199254740991', 9007199254740991],
])('a declared %s: %j becomes %j', (type, given, cast) => {
  expect(castDeclared(declare(type), { a: given })).toEqual({ values: { a: cast }, faults: {} });
});

test.each<[DeclaredMember['type'], Json]>([
  ['string', {}],
  ['string', ['x']],
  ['boolean', 'yes'],
  ['boolean', 1],
  ['number', ''],
  ['number', ' 1'],
  ['number', '0x10'],
  ['number', '1e999'],
  ['number', '9007199254740993'],
  ['number', '9007199254740993.0'],
  ['number', '1e20'],
  ['number', true],
])('a declared %s is not %j', (type, given) => {
  expect(castDeclared(declare(type), { a: given }).faults).toEqual({ a: [`must be a ${type}`] });
});

test('a missing member is named unless it is optional, and null is absent', () => {
  const declared: DeclaredMember[] = [
    { name: 'a', type: 'string' },
    { name: 'b', type: 'number', optional: true },
    { name: 'constructor', type: 'string' },
  ];
  expect(castDeclared(declared, { b: null })).toEqual({
    values: {},
    faults: { a: ['is required'], constructor: ['is required'] },
  });
});

test('what is not declared passes as it is, whatever its name', () => {
  const given = JSON.parse('{ "__proto__": { "x": 1 }, "b": [1], "a": "1" }');
  expect(JSON.stringify(castDeclared(declare('number'), given).values)).toBe('{"__proto__":{"x":1},"b":[1],"a":1}');
});
