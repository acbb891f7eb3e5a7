import fc from 'fast-check';
import {
  type Expression,
  evaluateExpression,
  filterRecords,
  type Json,
  mayContainExpression,
  parseExpressions,
  readExpressions,
  type Segment,
} from '../index.ts';
import { fillTemplate } from './template.ts';

function only(text: string): Expression {
  const [segment, ...rest] = parseExpressions(text);
  if (segment?.kind !== 'expression' || rest.length > 0) throw new Error('not one expression');
  return segment;
}

function sourceOf(segment: Segment, text: string): string {
  const { start, end } = segment.kind === 'literal' ? (segment.place ?? {}) : segment;
  return segment.kind === 'literal' && start === undefined ? segment.text : text.slice(start, end);
}

const evaluate = (filters: string, data: Json) => evaluateExpression(only(`{{ some-id ${filters} }}`), data);

describe('parseExpressions', () => {
  test('splits a text into literals and expressions with their places', () => {
    const text = 'a {{ id-1 }} b{{id-2|last4}}';
    const segments = parseExpressions(text);
    expect(segments.map((s) => (s.kind === 'literal' ? s.text : s.reference))).toEqual(['a ', 'id-1', ' b', 'id-2']);
    expect(segments.flatMap((s) => (s.kind === 'expression' ? [text.slice(s.start, s.end)] : []))).toEqual([
      '{{ id-1 }}',
      '{{id-2|last4}}',
    ]);
  });

  test.each(['d2cbc1b4-5c3a-45a3-9ee2-392a1c475ab4', "o'brien's token", 'a "quoted" id', 'ümläut:1.2,3@x', 'x$(1..9)'])(
    'any token id is a reference: %s',
    (id) => expect(only(`{{ ${id} }}`).reference).toBe(id),
  );

  test('braces and bars within quotes belong to the argument', () => {
    expect(evaluate('| pad_left: 6, "}|"', 'abcd')).toBe('}|abcd');
    expect(evaluate("| append: '}}'", 'x')).toBe('x}}');
  });

  test.each([
    ['{{ }}', 'is empty'],
    ['{{}}', 'is empty'],
    ['abc {{ id', 'not closed'],
    ['{{ id }', 'not closed'],
    ['{{ id } }}', 'not closed'],
    ['{{{ id }}}', 'not closed'],
    ['{{ a {{ b }} }}', 'not closed'],
    ['{{ id | }}', 'missing'],
    ["{{ id | append: 'x }}", 'not closed'],
    ['{{ id | nope }}', 'no filter nope'],
    ['{{ id | constructor }}', 'no filter constructor'],
    ['{{ id | reverse }}', 'no filter reverse'],
    ['{{ id | last4 ) }}', 'malformed'],
    ['{{ id | last4, }}', 'malformed'],
    ['{{ id | append: (1..999999999) }}', 'quoted text, numbers, true, false or nil'],
    ['{{ id | append: other.path }}', 'quoted text, numbers, true, false or nil'],
    ['{{ id | pad_left: a: 1 }}', 'quoted text, numbers, true, false or nil'],
    [`{{ ${'x'.repeat(5000)} }}`, 'not closed'],
  ])('%s is refused with its place', (text, reason) => {
    expect(() => parseExpressions(text)).toThrow(expect.objectContaining({ code: 'bad_request' }));
    expect(() => parseExpressions(text)).toThrow(`at character ${text.indexOf('{{')}`);
    expect(() => parseExpressions(text)).toThrow(reason);
  });

  test('behind one that is wrong, those that follow are read, so that their tokens can be checked', () => {
    const text = '{{ }} {{ a | nope }} {{ b {{ c }} {{ d | last4 }}';
    const expressions = readExpressions(text).filter((segment) => segment.kind === 'expression');
    expect(expressions.map(({ reference, fault }) => [reference, fault !== undefined])).toEqual([
      ['', true],
      ['a', true],
      ['', true],
      ['c', false],
      ['d', false],
    ]);
    expect(() => parseExpressions(text)).toThrow('at character 0');
  });

  test.each([
    ["{{ '{{' }}", '{{'],
    ['a {{"}}"}} b', 'a }} b'],
    ["{{ '{{' }} secrets.X {{ '}}' }}", '{{ secrets.X }}'],
    ["\\frac{{'{'}}a}{b}", '\\frac{a}{b}'],
    ["{{ '\\'' }}", "'"],
    ["{{''}}", ''],
  ])('a quoted text stands for itself: %s', (text, expected) => {
    expect(
      parseExpressions(text)
        .map((s) => (s.kind === 'literal' ? s.text : '!'))
        .join(''),
    ).toBe(expected);
  });

  test.each([
    ["{{ 'tis }}", "'tis"],
    ["{{ 'a' b }}", "'a' b"],
    ["{{ o'x' }}", "o'x'"],
  ])('what only begins with a quote is a token id: %s', (text, reference) =>
    expect(only(text).reference).toBe(reference),
  );

  test('Liquid tags are text', () => {
    expect(parseExpressions('{% include "x" %} {% raw %}')).toEqual([
      { kind: 'literal', text: '{% include "x" %} {% raw %}' },
    ]);
  });

  test('never fails but with a 400, and loses no text', () => {
    const part = fc.constantFrom(
      '{{',
      '}}',
      '{',
      '}',
      '|',
      ' ',
      'last4',
      'id',
      '"',
      "'",
      ':',
      ',',
      '\\',
      '(',
      '1',
      'é',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        const read = readExpressions(text);
        expect(read.map((s) => sourceOf(s, text)).join('')).toBe(text);
        try {
          const segments = parseExpressions(text);
          expect(segments.map((s) => sourceOf(s, text)).join('')).toBe(text);
        } catch (error) {
          expect(error).toMatchObject({ code: 'bad_request' });
        }
      }),
      { numRuns: 2000 },
    );
  });
});

test('mayContainExpression looks at text and bytes', () => {
  for (const of of [
    (text: string) => text,
    (text: string) => Buffer.from(text),
    (t: string) => new TextEncoder().encode(t),
  ]) {
    expect(mayContainExpression(of('a {{ b'))).toBe(true);
    expect(mayContainExpression(of('{ "a": { "b": 1 }}'))).toBe(false);
  }
});

describe('filters', () => {
  const card = { number: '4242424242424242', tags: ['a', { b: true }], 'a b': 1, nested: { 'x.y': 'z' } };

  test.each<[string, Json, Json]>([
    ['', card, card],
    ["| json: '$.number'", card, '4242424242424242'],
    ["| json: '$.tags[1].b'", card, true],
    ["| json: '$.tags[-1]'", card, { b: true }],
    [`| json: "$['a b']"`, card, 1],
    [`| json: '$.nested["x.y"]'`, card, 'z'],
    ["| json: '$.missing.below'", card, null],
    ["| json: '$.constructor'", card, null],
    ["| json: '$'", card, card],
    ["| json: '$.number' | last4", card, '4242'],
    ["| json: '$.number' | card_bin", card, '42424242'],
    ["| json: '$.missing' | last4", card, null],
    ['| card_bin', '378282246310005', '378282'],
    ["| card_brand | default: 'other'", '9999999999999995', 'other'],
    ['| stringify', { a: [1] }, '{"a":[1]}'],
    ['| stringify', 'text', 'text'],
    ['| to_number', '12.50', 12.5],
    ['| to_number', 7, 7],
    ['| to_boolean', 'True', true],
    ['| to_boolean', 0, false],
    ['| to_string', 7, '7'],
    ['| to_string', { a: 1 }, '{"a":1}'],
    ['| last4', 123456, '3456'],
    ["| pad_left: 5, '0'", '42', '00042'],
    ['| pad_right: 4', '42', '42  '],
    ['| reveal_last: 4', '4242424242424242', 'XXXXXXXXXXXX4242'],
    ['| reveal_last: 4', '123-45-6789', 'XXX-XX-6789'],
    ["| reveal_last: 2, '*'", 'abcd', '**cd'],
    ['| reveal_last: 4', '1234', 'XXXX'],
    ['| reveal_last: 2', '😀😀😀', 'X😀😀'],
    ['| upcase | slice: 0, 3', 'abcdef', 'ABC'],
    ["| default: 'none'", null, 'none'],
    ['| last4', null, null],
  ])('%s of %j is %j', (filters, data, expected) => expect(evaluate(filters, data)).toEqual(expected));

  test.each<[string, string[]]>([
    ['visa', ['4242424242424242', '4000000000006', '4999999999999999993']],
    ['mastercard', ['5100000000000000', '5599999999999999', '2221000000000009', '2720999999999996']],
    ['amex', ['3400 000000 00009', '378282246310005']],
    ['discover', ['6011111111111117', '6440000000000000', '6499999999999999', '6500000000000000']],
    [
      'diners',
      ['30000000000000', '30599999999999', '30950000000000', '36227206271667', '38520000023237', '39000000000000'],
    ],
    ['jcb', ['3528000000000000', '3566002020360505', '3589999999999999']],
    ['unionpay', ['6200000000000005', '6221260000000000', '6212345678900000001', '8100000000000000']],
    ['maestro', ['501000000007', '6759649826438453', '5893000000000000', '6304000000000000', '6390000000000000']],
  ])('card_brand: %s', (brand, numbers) => {
    for (const number of numbers) expect([number, evaluate('| card_brand', number)]).toEqual([number, brand]);
  });

  test.each<[string, Json]>([
    ['between two ranges', '2220999999999999'],
    ['behind the last range', '2721000000000000'],
    ['between two ranges of Diners', '3060000000000000'],
    ['below those of JCB', '3527999999999999'],
    ["Elo's", '5066990000000000'],
    ["Verve's", '5060990000000000'],
    ['too short', '42424242424'],
    ['too long', '42424242424242424242'],
    ['no digits', '4242x42424242424'],
    ['empty', ''],
    ['an object', card],
    ['nothing', null],
  ])('card_brand of a number that is %s is null', (_, number) => {
    expect(evaluate('| card_brand', number)).toBeNull();
  });

  test('card_brand of a number that is one in JSON', () =>
    expect(evaluate('| card_brand', 378282246310005)).toBe('amex'));

  test.each<[string, Json]>([
    ['| last4', card],
    ['| to_number', 'hunter2'],
    ['| to_number', ''],
    ["| to_number | default: 'no'", 'hunter2'],
    ['| to_boolean', 'hunter2'],
    ['| pad_left: 1000', card],
    ['| upcase', { toString: 1, valueOf: 1 }],
    ['| slice: 0, 100000000 | to_number', 'hunter2'],
  ])('%s of %j cannot work on the data, and gives null', (filters, data) => {
    expect(evaluate(filters, data)).toBeNull();
  });

  test.each([
    ["| json: 'number'", 'json needs a path'],
    ["| json: '$..number'", 'json needs a path'],
    ['| pad_left: 1000000000', 'pad_left needs a length'],
    ["| pad_right: '4'", 'pad_right needs a length'],
    ['| pad_right: 1.5', 'pad_right needs a length'],
    ["| reveal_last: 'x'", 'reveal_last needs a length'],
    ['| append', 'append needs a text'],
    ['| prepend', 'prepend needs a text'],
    ['| remove', 'remove needs a text'],
    ['| slice', 'slice needs a whole number'],
    ["| slice: 0, 'x'", 'slice needs a whole number'],
    ["| truncate: 'x'", 'truncate needs a whole number'],
    ['| split', 'split needs a text'],
    ["| replace: 'x'", 'replace needs two texts'],
  ])('%s is refused whatever the data, without a value', (filters, message) => {
    expect(() => only(`{{ id ${filters} }}`)).toThrow(expect.objectContaining({ code: 'bad_request' }));
    expect(() => only(`{{ id ${filters} }}`)).toThrow(message);
  });

  test.each(filterRecords.map((record) => [record.name, record] as const))(
    '%s: its example in the reference is what it does',
    (_name, { example: { filters, data, result } }) => expect(evaluate(`| ${filters}`, data)).toEqual(result),
  );

  test.each([
    ["| replace: 'x', '0123456789'", 'x'.repeat(7000), 'x'.repeat(6000), 60_000],
    ["| split: ''", 'x'.repeat(20_000), 'x'.repeat(10_000), 10_000],
    ["| split: '' | join: '0123456789'", 'x'.repeat(8000), 'x'.repeat(5000), 5000 + 4999 * 10],
    [`| ${"split: '' | join: '0123456789' | ".repeat(4)}upcase`, 'x'.repeat(100), 'x', 1],
  ])('%s cannot make a text long: beyond 64 Ki and the value it gives null', (filters, long, short, length) => {
    expect(evaluate(filters, long)).toBeNull();
    expect(evaluate(filters, short)).toHaveLength(length);
  });

  test('a long text may be replaced in, as long as it does not grow', () => {
    const text = 'a b '.repeat(50_000);
    expect(evaluate("| replace: ' ', '-'", text)).toBe(text.replaceAll(' ', '-'));
    expect(evaluate("| replace: ' ', '--'", text)).toBeNull();
  });

  test('no filter with arguments that are accepted throws, whatever the data', () => {
    const names = [
      'split',
      'join',
      'replace',
      'append',
      'default',
      'json',
      'pad_left',
      'remove',
      'reveal_last',
      'slice',
      'truncate',
      'to_number',
    ];
    const bare = [
      'capitalize',
      'first',
      'last',
      'lstrip',
      'size',
      'stringify',
      'to_boolean',
      'card_bin',
      'card_brand',
      'downcase',
    ];
    const argument = fc.constantFrom("'x'", "'$.a'", '0', '-1', '1000', '1.5', 'nil', 'true', 'empty');
    const filter = fc
      .tuple(fc.constantFrom(...names, ...bare), fc.array(argument, { maxLength: 3 }))
      .map(([name, args]) => `| ${name}${args.length > 0 ? `: ${args.join(', ')}` : ''}`);
    fc.assert(
      fc.property(fc.array(filter, { maxLength: 3 }), fc.jsonValue(), (filters, data) => {
        const [segment] = readExpressions(`{{ id ${filters.join(' ')} }}`);
        if (segment?.kind !== 'expression') throw new Error('no expression');
        if (!segment.fault) evaluateExpression(segment, data as Json);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('fillTemplate', () => {
  const data = { number: '4242424242424242', month: 4, list: ['x'] };

  test('fills strings, keeps types, leaves out what is not there', () => {
    const mask = {
      number: '{{ data.number | reveal_last: 4 }}',
      month: '{{ data.month }}',
      year: '{{ data.year }}',
      text: 'no. {{ data.number | last4 }}, {{ data.list[0] }}, {{ data.month }}{{ data.year }}',
      fixed: 1,
    };
    expect(fillTemplate(mask, data)).toEqual({
      number: 'XXXXXXXXXXXX4242',
      month: 4,
      text: 'no. 4242, x, 4',
      fixed: 1,
    });
  });

  test('a quoted text stands for itself', () => {
    expect(fillTemplate({ a: "{{ '{{' }}", b: "{{ '{{' }}{{ data.month }}" }, data)).toEqual({ a: '{{', b: '{{4' });
  });

  test('a path must begin with data', () => {
    expect(() => fillTemplate('{{ number }}', data)).toThrow('begins with "data"');
    expect(() => fillTemplate('{{ data.number == 1 }}', data)).toThrow('begins with "data"');
    expect(() => fillTemplate('{{ database }}', data)).toThrow('begins with "data"');
  });

  test('a member called __proto__ stays a member', () => {
    const filled = fillTemplate(JSON.parse('{"__proto__":"{{ data.month }}"}'), data);
    expect(JSON.stringify(filled)).toBe('{"__proto__":4}');
  });
});
