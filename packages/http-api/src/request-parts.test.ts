import { ServiceError } from '@sluice/problems';
import { checkText } from './check-text.ts';
import { dropNulls } from './drop-nulls.ts';
import { checkMediaType } from './media-type.ts';
import { memberPath, pointerPath } from './member-path.ts';
import { toPage } from './pagination.ts';
import { readQuery } from './read-query.ts';

describe('member paths', () => {
  test.each([
    [[], ''],
    [['name'], 'name'],
    [['rules', 0, 'priority'], 'rules[0].priority'],
    [[0, 'a'], '[0].a'],
    [['a', 0, 1], 'a[0][1]'],
  ])('%j is %s', (path, text) => expect(memberPath(path)).toBe(text));

  test.each([
    ['', ''],
    ['/name', 'name'],
    ['/rules/0/priority', 'rules[0].priority'],
    ['/a~1b/c~0d', 'a/b.c~d'],
    ['/~01', '~1'],
  ])('the JSON Pointer %j is %j', (pointer, text) => expect(pointerPath(pointer)).toBe(text));
});

describe('media types', () => {
  const accepts = (type: string | undefined, consumes: string, headers = {}): boolean => {
    try {
      checkMediaType({ ...(type !== undefined && { 'content-type': type }), ...headers }, consumes);
      return true;
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'unsupported_media_type') return false;
      throw error;
    }
  };

  test.each([
    'application/json',
    'APPLICATION/Json',
    'application/json;charset=utf-8',
    'application/json ; a="b;c"',
    'application/problem+json',
    'application/vnd.a.b-c+json; v=1',
    'application/merge-patch+json',
  ])('%s is JSON', (type) => expect(accepts(type, 'application/json')).toBe(true));

  test.each([
    undefined,
    '',
    ';',
    'json',
    'text/json',
    'text/plain',
    'application/jsonx',
    'application/+json',
    'application/x+json+xml',
    'a/b+json',
  ])('%s is not JSON', (type) => expect(accepts(type, 'application/json')).toBe(false));

  test.each([
    ['application/merge-patch+json', true],
    ['application/Merge-Patch+json; x=y', true],
    ['application/json', false],
    ['application/problem+json', false],
    [undefined, false],
  ])('%s is a merge patch: %s', (type, expected) => {
    expect(accepts(type, 'application/merge-patch+json')).toBe(expected);
  });

  test.each([
    ['gzip', false],
    ['identity', true],
    ['Identity', true],
  ])('the content coding %s is taken: %s', (coding, expected) => {
    expect(accepts('application/json', 'application/json', { 'content-encoding': coding })).toBe(expected);
  });
});

describe('readQuery', () => {
  const schema = {
    properties: { id: { type: 'array' }, name: { type: 'string' }, page: { type: 'integer' } },
  };

  test.each([
    ['/x', { id: [] }],
    ['/x?', { id: [] }],
    ['/x?id=a&id=b', { id: ['a', 'b'] }],
    ['/x?id[]=a&id%5B%5D=b', { id: ['a', 'b'] }],
    ['/x?id=a,b,,c', { id: ['a', 'b', 'c'] }],
    ['/x?id=&id[]=', { id: [] }],
    ['/x?id[0]=a&id[1]=b', { id: ['a', 'b'] }],
    ['/x?id%5B10%5D=c&id%5B2%5D=b&id[0]=a', { id: ['a', 'b', 'c'] }],
    ['/x?id=a,%20b+,+c', { id: ['a', 'b', 'c'] }],
    ['/x?ids=a&names=b&pages=c', { id: [] }],
    ['/x?idle=d&id.x=1&other[x]=2', { id: [] }],
    ['/x?name=a%20b+c&page=2', { id: [], name: 'a b c', page: '2' }],
    ['/x?name=&page=', { id: [] }],
    ['/x?name=a?b=c', { id: [], name: 'a?b=c' }],
    ['/x?other=1&toString=2&__proto__=3', { id: [] }],
  ])('%s is %j', (url, query) => expect(readQuery(url, schema)).toEqual(query));

  test.each([
    '/x?id[x]=a',
    '/x?id[-1]=b',
    '/x?id[0][1]=c',
    '/x?id[123456]=d',
    '/x?id[=e',
    '/x?id%5Bx%5D=f',
    '/x?name[0]=g',
  ])('%s is 400: ignored, the filter would give everything', (url) => {
    expect(() => readQuery(url, schema)).toThrow(ServiceError);
  });

  test.each(['/x?page=1&page=2', '/x?name=a&name[]=b', '/x?page=&page=1'])('%s is 400: it may be given once', (url) => {
    expect(() => readQuery(url, schema)).toThrow('may be sent only once');
  });
});

describe('checkText', () => {
  test.each([
    [{ a: 'x', b: [1, null, true, { c: '😀\n\t' }] }, {}],
    ['\0', { '': ['contains a NUL character'] }],
    [{ a: ['x', '\0'] }, { 'a[1]': ['contains a NUL character'] }],
    [{ a: { b: '\ud800' } }, { 'a.b': ['contains a lone surrogate'] }],
    [{ a: { '\0': 1 } }, { a: ['has a field whose name contains a NUL character'] }],
    [{ '\udc00': 1 }, { '': ['has a field whose name contains a lone surrogate'] }],
    [JSON.parse('{"__proto__":"\\u0000"}'), JSON.parse('{"__proto__":["contains a NUL character"]}')],
  ])('%j: %j', (value, errors) => {
    expect(Object.entries(checkText(value))).toEqual(Object.entries(errors));
  });

  test('nesting may be 64 levels deep and no deeper', () => {
    const nested = (depth: number) => JSON.parse('{"a":'.repeat(depth) + '1'.padEnd(1) + '}'.repeat(depth));
    expect(Object.keys(checkText(nested(64)))).toEqual([]);
    expect(Object.values(checkText(nested(65)))).toEqual([['is nested deeper than 64 levels']]);
    expect(Object.keys(checkText(nested(65)))).toEqual(['a.a.a']);
  });

  test('opaque members may hold any text; only at the top', () => {
    expect(Object.keys(checkText({ data: '\0', other: { data: '\0' } }, ['data']))).toEqual(['other.data']);
  });

  test('at most a hundred faults are named', () => {
    expect(Object.keys(checkText(Array(500).fill('\0')))).toHaveLength(100);
  });
});

describe('dropNulls', () => {
  const schema = {
    required: ['name'],
    properties: {
      name: {},
      note: {},
      list: { items: { required: ['a'], properties: { a: {}, b: {} } } },
      map: { additionalProperties: {} },
    },
  };

  test('removes optional members that are null, as deep as the schema goes, and nothing else', () => {
    const value = {
      name: null,
      note: null,
      unknown: null,
      list: [{ a: null, b: null }, null],
      map: { x: null },
    };
    dropNulls(value, schema);
    expect(value).toEqual({ name: null, unknown: null, list: [{ a: null }, null], map: { x: null } });
  });

  test.each([null, 5, 'x', [null]])('%j passes', (value) => {
    expect(() => dropNulls(value, schema)).not.toThrow();
  });
});

describe('toPage', () => {
  test.each([
    [0, 20, 0],
    [1, 20, 1],
    [20, 20, 1],
    [21, 20, 2],
    [5, 1, 5],
  ])('%i items by %i are %i pages', (total, size, pages) => {
    expect(toPage(['x'], total, { page: 3, size })).toEqual({
      pagination: { total_items: total, page_number: 3, page_size: size, total_pages: pages },
      data: ['x'],
    });
  });
});
