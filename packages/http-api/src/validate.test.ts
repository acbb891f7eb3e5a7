import { ServiceError } from '@sluice/problems';
import { bodyCheck, queryCheck } from './validate.ts';

function errorsOf(check: (value: unknown) => void, value: unknown) {
  try {
    check(value);
    return {};
  } catch (error) {
    if (error instanceof ServiceError) return error.errors;
    throw error;
  }
}

/** In microseconds of processor time: the minimum of several rounds. */
function workOf(work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round += 1) {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, user + system);
  }
  return least;
}

describe('faults are named by the path of the member', () => {
  const check = bodyCheck({
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
    [{ name: 'x', list: [{ n: 1, m: 2 }] }, { 'list[0].m': ['is not a known field'] }],
    [{ name: 'x', list: [{ n: '1' }] }, { 'list[0].n': ['must be a whole number'] }],
    [{ name: 'x', flag: 'true' }, { flag: ['must be true or false, without quotes'] }],
    [{ name: 'x', 'odd/na~me': 1 }, { 'odd/na~me': ['must be a string'] }],
    [
      { name: 'x', map: { long: 1 } },
      { map: ['has a field whose name is not allowed: it may have at most 3 characters'] },
    ],
    [{ name: '😀😀😀', more: {} }, {}],
  ])('%j: %j', (value, errors) => expect(errorsOf(check, value)).toEqual(errors));

  test('defaults are filled in', () => {
    const value = { name: 'x' };
    check(value);
    expect(value).toEqual({ name: 'x', flag: true });
  });

  const wrongItems = (length: number) => ({ name: 'x', list: Array.from({ length }, () => ({})) });
  const countFaults = (value: unknown) => Object.keys(errorsOf(check, value) ?? {}).length;

  test('at most a hundred are named, and of a body with more than a thousand values only the first', () => {
    expect([200, 996, 997].map((length) => countFaults(wrongItems(length)))).toEqual([100, 100, 1]);
    expect(countFaults({ name: 'x', list: [{ n: Array(1000).fill(1) }, {}] })).toBe(1);
  });

  test('refusing a large body takes no more work than reading it, however wrong it is', () => {
    const text = JSON.stringify(wrongItems(200_000));
    const value = JSON.parse(text);
    expect(workOf(() => errorsOf(check, value))).toBeLessThan(workOf(() => JSON.parse(text)));
  });
});

describe('a query is text and is converted', () => {
  const check = queryCheck({
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

test('an id in capitals becomes the id as Postgres has it, in bodies, paths and queries, and other text stays', () => {
  const id = { type: 'string', format: 'uuid' };
  const properties = {
    id,
    ids: { type: 'array', items: id },
    maybe: { ...id, type: ['string', 'null'] },
    text: { type: 'string' },
  };
  const small = '00000000-0000-4000-8000-00000000abcd';
  const capitals = small.toUpperCase();
  for (const compile of [bodyCheck, queryCheck]) {
    const value = { id: capitals, ids: [capitals, small], maybe: capitals, text: capitals };
    compile({ type: 'object', properties })(value);
    expect(value).toEqual({ id: small, ids: [small, small], maybe: small, text: capitals });
  }
});
