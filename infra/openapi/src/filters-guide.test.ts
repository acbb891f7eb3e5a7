import { readFile } from 'node:fs/promises';
import { evaluateExpression, parseExpressions } from '@sluice/vault';

const guide = await readFile(new URL('../../guides/filters.md', import.meta.url), 'utf8');
const block = (info: string) => `\`\`\`${info}\\n(.*?)\\n\`\`\`\\n`;
const example = new RegExp(block('json data') + block('text expression') + block('json result'), 'gs');
const examples = [...guide.matchAll(example)].map(([, data = '', expression = '', result = '']) => {
  return { data, expression, result };
});

test('every block of the guide is of an example', () => {
  expect(examples).toHaveLength(3);
  expect(guide.match(/^```\w/gm)).toHaveLength(3 * examples.length);
});

test.each(examples)('$expression gives $result', ({ data, expression, result }) => {
  const [segment] = parseExpressions(expression);
  if (segment?.kind !== 'expression') throw new Error('not an expression');
  expect(evaluateExpression(segment, JSON.parse(data))).toEqual(JSON.parse(result));
});
