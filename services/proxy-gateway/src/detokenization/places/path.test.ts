import { ServiceError } from '@sluice/problems';
import type { Json } from '@sluice/vault';
import { fillLines } from './line.ts';
import { findInPath } from './path.ts';
import { findInQuery } from './query.ts';

function fill(find: typeof findInPath, text: string, values: Record<string, Json> = {}): string | ServiceError {
  try {
    const places = find(text, 100);
    const [filled = ''] = fillLines([{ text, places }], ({ reference }) => values[reference] ?? null, { name: 'it' });
    return filled;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

const refused = expect.objectContaining({ code: 'bad_request' });

describe('a path', () => {
  test.each([
    ['/a/{{x}}/b', 'v', '/a/v/b'],
    ['/a/%7B%7bx%7d}/b', 'a/b c', '/a/a%2Fb%20c/b'],
    ['/a:%41-{{x}}:verb;p=1', "!'()*~é", '/a:%41-%21%27%28%29%2A~%C3%A9:verb;p=1'],
    ['/%ff{{x}}%C3%A9', 'v', '/%ffv%C3%A9'],
    ['/a+b{{x}}', 'v', '/a+bv'],
    ["/{{ x | append: '/' }}", 'v', undefined],
    ["/{{%20'{{'%20}}", 'v', '/%7B%7B'],
    ['/.{{x}}', 'a', '/.a'],
    ['/a%2F{{x}}', 'b', '/a%2Fb'],
    ['/a', 'v', '/a'],
    ['/%7B/{', 'v', '/%7B/{'],
  ])('%s with %j is %j', (path, x, expected) => {
    expect(fill(findInPath, path, { x })).toEqual(expected ?? expect.anything());
  });

  test.each([
    ['/{{x}}', '..'],
    ['/{{x}}', '.'],
    ['/.{{x}}', '.'],
    ['/%2e{{x}}', '.'],
    ['/%252e{{x}}', '.'],
    ['/{{x}}%2e', '.'],
    ['/{{x}}', '%2e%2e'],
    ['/{{x}}', '%2E.'],
    ['/{{x}}', 'a/../b'],
    ['/{{x}}', 'a/.'],
    ['/a%2F{{x}}', '..'],
    ['/a\\{{x}}', '..'],
    ['/{{x}}', '..;a'],
    ['/{{x}}', '\\'],
    ['/{{x}}', '%5c'],
    ['/{{x}}', '%255C'],
    ['/{{x}}', 'a%2fb'],
    ['/{{x}}', '%00'],
    ['/{{x}}', '\0'],
    ['/%2{{x}}', 'f'],
    ['/%25{{x}}', '2f'],
    ['/{{x}}2f', '%'],
    ['/{{x}}{{y}}', '.'],
  ])('%s cannot hold %j', (path, x) => {
    expect(fill(findInPath, path, { x, y: '.' })).toEqual(refused);
    const filtered = path.replaceAll('}}', "|append:''}}");
    const filled = fill(findInPath, filtered, { x, y: '.' });
    const unfiltered = fill(findInPath, path, { x: '', y: '' });
    expect(filled).toEqual(unfiltered);
  });
});

describe('a query', () => {
  test.each([
    ['?a=b', '?a=b'],
    ['?a+%7B=%2b+&&=%41;c', '?a+%7B=%2b+&&=%41;c'],
    ['?{{x}}={{x}}&b=%2b{{+x+}}+%ff', '?a%2Fb%20%26=a%2Fb%20%26&b=%2ba%2Fb%20%26+%ff'],
    ['?q={{x}}={{x}}', '?q=a%2Fb%20%26=a%2Fb%20%26'],
    ['?q=%7b%7Bx%7d%7D', '?q=a%2Fb%20%26'],
    ['?q={{%20x%20|%20append:%20%27%c3%a9%26%27}}', '?q=a%2Fb%20%26%C3%A9%26'],
  ])('%s is %s', (query, expected) => {
    expect(fillEvaluated(query)).toBe(expected);
  });

  function fillEvaluated(query: string): string {
    const text = 'a/b &';
    const places = findInQuery(query, 100);
    const [filled = ''] = fillLines(
      [{ text: query, places }],
      ({ filters }) => (filters.length > 0 ? `${text}é&` : text),
      {
        name: 'it',
      },
    );
    return filled;
  }
});

describe('how long a line may be', () => {
  const most = 16 * 1024;

  test('a value that makes it too long is refused, and left out behind a filter', () => {
    const x = 'v'.repeat(most - '?q='.length);
    expect(fill(findInQuery, '?q={{x}}', { x })).toBe(`?q=${x}`);
    expect(fill(findInQuery, '?q={{x}}', { x: `${x}v` })).toEqual(refused);
    expect(fill(findInQuery, "?q={{x|append:''}}", { x: `${x}v` })).toBe('?q=');
    expect(fill(findInQuery, '?q={{x}}', { x: 'v'.repeat(1024 * 1024) })).toEqual(refused);
  });

  test('lines count together, and one that is filled with less than its source may be as long as the others let it', () => {
    const places = findInPath('/{{x}}', 100);
    const lines = [
      { text: '/{{x}}', places },
      { text: `?${'q'.repeat(most - 10)}`, places: [] },
    ];
    const fillWith = (value: string) => () => fillLines(lines, () => value, { name: 'it' });
    expect(fillWith('v'.repeat(8))()[0]).toBe('/vvvvvvvv');
    expect(fillWith('v'.repeat(9))).toThrow(refused);
  });
});
