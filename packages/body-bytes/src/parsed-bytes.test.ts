import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { slow } from '@sluice/testing';
import { parsedBytes } from './parsed-bytes.ts';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

function heapUsed(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

function memoryOf(json: string): number {
  const copies = 20;
  const before = heapUsed();
  const parsed = Array.from({ length: copies }, () => JSON.parse(json));
  const used = heapUsed() - before;
  expect(parsed).toHaveLength(copies);
  return used / copies;
}

const listOf = (item: string) => `[${Array(20_000).fill(item).join()}]`;

slow('3.4 s').each([
  ['empty objects', listOf('{}')],
  ['empty lists', listOf('[]')],
  ['lists in lists', listOf('[[]]')],
  ['objects in objects', listOf('{"a":{}}')],
  ['numbers', listOf('1')],
  ['fractions', listOf('0.5')],
  ['empty texts', listOf('""')],
  ['null', listOf('null')],
  ['small objects', listOf('{"a":1,"b":[2]}')],
  ['cards', listOf('{"number":"4242424242424242","expiration_month":12,"expiration_year":2030}')],
  ['one object of many members', `{${Array.from({ length: 20_000 }, (_, n) => `"${n.toString(36)}x":${n}`).join()}}`],
  ['one long text', JSON.stringify('x'.repeat(300_000))],
])('%s take no more memory than was reckoned', (_name, json) => {
  expect(memoryOf(json)).toBeLessThan(1.1 * parsedBytes(Buffer.from(json)) + 20_000);
});

slow('2.9 s')('a text alone says nothing about it', () => {
  const json = listOf('{}');
  expect(memoryOf(json)).toBeGreaterThan(15 * json.length);
});
