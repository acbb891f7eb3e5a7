import { ServiceError } from '@sluice/problems';
import { compileBodyCheck, compileQueryCheck, parseDate } from './validate.ts';

describe('parseDate', () => {
  test.each([
    ['2026-02-03', '2026-02-03T00:00:00.000Z'],
    ['2026-02-03T04:05', '2026-02-03T04:05:00.000Z'],
    ['2026-02-03T04:05:06', '2026-02-03T04:05:06.000Z'],
    ['2026-02-03T04:05:06Z', '2026-02-03T04:05:06.000Z'],
    ['2026-02-03t04:05:06z', '2026-02-03T04:05:06.000Z'],
    ['2026-02-03 04:05:06Z', '2026-02-03T04:05:06.000Z'],
    ['2026-02-03T04:05:06.7', '2026-02-03T04:05:06.700Z'],
    ['2026-02-03T04:05:06.123456789Z', '2026-02-03T04:05:06.123Z'],
    ['2026-02-03T04:05:06+01:00', '2026-02-03T03:05:06.000Z'],
    ['2026-02-03T04:05:06-0130', '2026-02-03T05:35:06.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
  ])('%s is %s', (text, iso) => expect(parseDate(text)?.toISOString()).toBe(iso));

  test.each([
    '',
    'now',
    '2026',
    '2026-02',
    '2026-2-3',
    '2026-02-30',
    '2026-02-31T00:00:00Z',
    '2026-02-29',
    '2026-04-31T10:00',
    '2026-13-01',
    '2026-00-01',
    '2026-01-00',
    '2026-01-01T24:01',
    '2026-01-01T10:60',
    '2026-01-01T10:00:61Z',
    '2026-01-01T10:00:00+25:00',
    '2026-01-01T10:00:00.Z',
    '2026-01-01T10Z',
    '20260101T100000Z',
    '+012026-01-01T00:00:00Z',
    '2026-W01-1',
    ' 2026-01-01',
    '2026-01-01\n',
    '9999-12-31T23:59:59-01:00',
    '0000-12-31',
    '0001-01-01T00:00:00+01:00',
  ])('%j is none', (text) => expect(parseDate(text)).toBeUndefined());
});

function errorsOf(check: (value: unknown) => void, value: unknown) {
  try {
    check(value);
    return {};
  } catch (error) {
    if (error instanceof ServiceError) return error.errors;
    throw error;
  }
}

describe('faults are named by the path of the member', () => {
  const check = compileBodyCheck({
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', maxLength: 3 },
      id: { type: 'string', format: 'uuid' },
      at: { type: 'string', format: 'iso-date' },
      flag: { type: 'boolean', default: true },
      kind: { type: 'string', enum: ['a', 'b'] },
      list: {
        type: 'array',
        items: { type: 'object', additionalProperties: false, required: ['n'], properties: { n: { type: 'integer' } } },
      },
      'odd/na~me': { type: 'string' },
      map: { type: 'object', propertyNames: { maxLength: 3 } },
    },
  });

  test.each([
    [{}, { name: ['is required'] }],
    [[], { $: ['must be an object'] }],
    [{ name: 5 }, { name: ['must be a string'] }],
    [{ name: '😀😀😀😀' }, { name: ['may have at most 3 characters'] }],
    [{ name: 'x', id: 'x' }, { id: ['must be a UUID'] }],
    [{ name: 'x', at: 'x' }, { at: ['must be an ISO 8601 date'] }],
    [{ name: 'x', kind: 'c' }, { kind: ['must be one of a, b'] }],
    [{ name: 'x', list: [{ n: 1 }, {}] }, { 'list[1].n': ['is required'] }],
    [{ name: 'x', list: [{ n: 1, m: 2 }] }, { 'list[0].m': ['is not a known member'] }],
    [{ name: 'x', list: [{ n: '1' }] }, { 'list[0].n': ['must be a whole number'] }],
    [{ name: 'x', flag: 'true' }, { flag: ['must be true or false, without quotes'] }],
    [{ name: 'x', 'odd/na~me': 1 }, { 'odd/na~me': ['must be a string'] }],
    [
      { name: 'x', map: { long: 1 } },
      { map: ['has a member whose name is not allowed: it may have at most 3 characters'] },
    ],
    [{ name: '😀😀😀', more: {} }, {}],
  ])('%j: %j', (value, errors) => expect(errorsOf(check, value)).toEqual(errors));

  test('defaults are filled in', () => {
    const value = { name: 'x' };
    check(value);
    expect(value).toEqual({ name: 'x', flag: true });
  });

  test('at most a hundred are named', () => {
    const list = Array.from({ length: 5000 }, () => ({}));
    expect(Object.keys(errorsOf(check, { name: 'x', list }) ?? {})).toHaveLength(100);
  });
});

describe('a query is text and is converted', () => {
  const check = compileQueryCheck({
    type: 'object',
    properties: { page: { type: 'integer', minimum: 1, default: 1 } },
  });

  test.each([
    [{ page: '7' }, { page: 7 }],
    [{}, { page: 1 }],
  ])('%j becomes %j', (value, converted) => {
    check(value);
    expect(value).toEqual(converted);
  });

  test.each(['0', '1.5', 'x', 'true', '1,2'])('%s is no page', (page) => {
    expect(errorsOf(check, { page })).toHaveProperty('page');
  });
});
