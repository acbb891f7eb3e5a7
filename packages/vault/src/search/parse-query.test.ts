import fc from 'fast-check';
import { parseQuery, type Query } from './parse-query.ts';

function show(query: Query): string {
  switch (query.kind) {
    case 'and':
    case 'or':
      return `(${query.operands.map(show).join(` ${query.kind} `)})`;
    case 'not':
      return `not ${show(query.operand)}`;
    case 'range':
      return `${query.field}[${query.from.text}..${query.to.text}]`;
    case 'term':
      return `${query.field}${query.key && `.${query.key}`}=${query.value.text}${query.isPrefix ? '…' : ''}`;
  }
}

test.each([
  ['id:abc', 'id=abc'],
  ['  type:card  ', 'type=card'],
  ['metadata.customer:c-1', 'metadata.customer=c-1'],
  ['metadata."a key: \\"x\\"":v', 'metadata.a key: "x"=v'],
  ['data:"4242 \\\\ \\"x\\" ()[]* AND"', 'data=4242 \\ "x" ()[]* AND'],
  ['container:/pci/high/', 'container=/pci/high/'],
  ['container:/pci/*', 'container=/pci/…'],
  ['container:*', 'container=…'],
  ['container:"/pci/*"', 'container=/pci/*'],
  ['created_at:2026-01-01T10:00:00Z', 'created_at=2026-01-01T10:00:00Z'],
  ['modified_at:[2026-01-01 TO 2026-02-01]', 'modified_at[2026-01-01..2026-02-01]'],
  ['created_at:[ "2026-01-01" TO 2026-02-01 ]', 'created_at[2026-01-01..2026-02-01]'],
  ['id:a AND id:b OR id:c AND NOT id:d', '((id=a and id=b) or (id=c and not id=d))'],
  ['id:a AND (id:b OR id:c)', '(id=a and (id=b or id=c))'],
  ['NOT NOT(id:a)OR(id:b)', '(not not id=a or id=b)'],
  ['id:AND AND id:NOT', '(id=AND and id=NOT)'],
  ['id:"a"AND id:b', '(id=a and id=b)'],
  ['id:a:b', 'id=a:b'],
  ['metadata.k:""', 'metadata.k='],
  ["id:'; drop table tokens; --", undefined],
])('%s', (text, shown) => {
  if (shown === undefined) expect(() => parseQuery(text)).toThrow();
  else expect(show(parseQuery(text))).toBe(shown);
});

test.each<[string, number, string]>([
  ['', 0, 'expected one of id, type'],
  ['   ', 3, 'expected one of id, type'],
  ['nope:1', 0, 'expected one of id, type'],
  ['id:a AND nope:1', 9, 'expected one of id, type'],
  ['id:a and id:b', 5, 'expected "AND", "OR" or the end'],
  ['id:a id:b', 5, 'expected "AND", "OR" or the end'],
  ['id', 2, 'expected ":"'],
  ['id :a', 2, 'expected ":"'],
  ['id:', 3, 'expected a value'],
  ['id: a', 3, 'expected a value'],
  ['metadata:x', 0, 'expected one of id, type'],
  ['metadata.:x', 9, 'expected a key of metadata'],
  ['metadata.k', 10, 'expected ":"'],
  ['id:"a', 3, 'the quotes are not closed'],
  ['id:"a\\n"', 3, 'the quotes are not closed'],
  ['(id:a', 5, 'expected "AND", "OR" or ")"'],
  ['id:a)', 4, 'expected "AND", "OR" or the end'],
  ['id:a AND', 8, 'expected one of id, type'],
  ['NOT', 3, 'expected one of id, type'],
  ['id:a*', 4, '* is allowed only at the end of a container'],
  ['container:/a*/b', 12, '* is allowed only at the end of a container'],
  ['container:/a**', 12, '* is allowed only at the end of a container'],
  ['id:[a TO b]', 3, 'only dates have ranges'],
  ['created_at:[2026-01-01 2026-01-02]', 23, 'expected "TO"'],
  ['created_at:[2026-01-01 TO 2026-01-02', 36, 'expected "]"'],
  ['created_at:[ TO 2026-01-02]', 16, 'expected "TO"'],
  ['created_at:[]', 12, 'expected a date'],
  [`${'('.repeat(30)}id:a`, 20, 'is nested deeper than 20 levels'],
  [`${'NOT '.repeat(30)}id:a`, 80, 'is nested deeper than 20 levels'],
])('%s is a fault at character %i: %s', (text, position, reason) => {
  expect(() => parseQuery(text)).toThrow(
    expect.objectContaining({
      code: 'validation_failed',
      errors: { query: [expect.stringContaining(`at character ${position}: ${reason}`)] },
    }),
  );
});

test('any text is a query or a fault with a place in it, and nothing of it is repeated', () => {
  const word = fc.constantFrom('(', ')', '[', ']', '"', '\\', ':', '*', ' ', 'AND', 'OR', 'NOT', 'TO', 'id:', 'data:');
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.array(fc.oneof(word, fc.string({ unit: 'grapheme', maxLength: 3 })), { maxLength: 40 }).map((l) => l.join('')),
  );
  fc.assert(
    fc.property(text, (query) => {
      try {
        parseQuery(query);
      } catch (error) {
        const { code, errors } = error as { code: string; errors: { query: string[] } };
        expect(code).toBe('validation_failed');
        const position = Number(/^at character (\d+): /.exec(errors.query[0] ?? '')?.[1]);
        expect(position).toBeGreaterThanOrEqual(0);
        expect(position).toBeLessThanOrEqual(query.length);
      }
    }),
    { numRuns: 1000 },
  );
  expect(() => parseQuery('data:canary-value canary-value')).toThrow(
    expect.not.objectContaining({ message: expect.stringContaining('canary') }),
  );
});
