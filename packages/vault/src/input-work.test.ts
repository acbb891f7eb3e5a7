import { ServiceError } from '@sluice/problems';
import { slow } from '@sluice/testing';
import { filterBudget } from './index.ts';
import { isNestedDeeperThan } from './json.ts';
import { readTokenInput } from './tokens/create/read-token-input.ts';
import { readTokenPatch } from './tokens/update/read-token-patch.ts';

/** Some machines count processor time in steps of 4 ms, so each round works for ten of them. */
const roundMicroseconds = 40_000;

/** In microseconds of processor time: the minimum of several rounds. */
function workOf(work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 4; round += 1) {
    const before = process.threadCpuUsage();
    let [times, used] = [0, 0];
    while (used < roundMicroseconds) {
      work();
      times += 1;
      const { user, system } = process.threadCpuUsage(before);
      used = user + system;
    }
    least = Math.min(least, used / times);
  }
  return least;
}

test.each([
  ['many numbers', `[${'0,'.repeat(1_000_000)}0]`],
  ['many lists', `[${'[],'.repeat(300_000)}[]]`],
  ['many objects', `[${'{"a":0},'.repeat(200_000)}{}]`],
])('the depth of %s takes about as much work as reading them', (_, text) => {
  const value = JSON.parse(text);
  // An earlier walk took some twenty times the work of reading.
  expect(workOf(() => isNestedDeeperThan(500, value))).toBeLessThan(5 * workOf(() => JSON.parse(text)));
});

test('depth is counted as before', () => {
  const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
  expect(isNestedDeeperThan(500, nested(501))).toBe(false);
  expect(isNestedDeeperThan(500, nested(502))).toBe(true);
  expect(isNestedDeeperThan(500, nested(1_000_000))).toBe(true);
  expect(isNestedDeeperThan(1, { a: { b: 1 } })).toBe(true);
});

const reading = () => ({ now: new Date(), budget: { ...filterBudget(), leftToFill: Number.POSITIVE_INFINITY } });
const wrong = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, 1]));

function faultsOf(read: () => unknown): number {
  try {
    read();
  } catch (error) {
    if (error instanceof ServiceError) return Object.keys(error.errors ?? {}).length;
    throw error;
  }
  return 0;
}

test.each([
  ['a token', (metadata: object) => readTokenInput({ data: 1, metadata }, '', reading())],
  ['a patch', (metadata: object) => readTokenPatch({ metadata }, new Date())],
])('of %s with many wrong members only the first is told; the control: of fewer all are', (_, read) => {
  expect(faultsOf(() => read(wrong(60_000)))).toBe(1);
  expect(faultsOf(() => read(wrong(100)))).toBe(100);
});

describe.each(['containers', 'search_indexes'])('of many wrong %s', (member) => {
  test.each([
    ['a token', (items: number[]) => readTokenInput({ data: 1, [member]: items }, '', reading())],
    ['a patch', (items: number[]) => readTokenPatch({ [member]: items }, new Date())],
  ])('%s tells only that there are too many; the control: of fewer all are told', (_, read) => {
    expect(faultsOf(() => read(Array(60_000).fill(1)))).toBe(1);
    expect(faultsOf(() => read(Array(20).fill(1)))).toBe(20);
  });
});

slow('1.8 s')('metadata of many members takes at most twice as much work as parsing it', () => {
  const metadata = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`m${at.toString(36)}`, `v${at}`]));
  const text = JSON.stringify({ data: 1, metadata });
  const parsing = workOf(() => JSON.parse(text));
  const input = JSON.parse(text);
  expect(workOf(() => readTokenInput(input, '', reading()))).toBeLessThan(2 * parsing);
  expect(workOf(() => readTokenPatch(input, new Date()))).toBeLessThan(2 * parsing);
});

slow('1.5 s')(
  'what expressions come to is not written beyond 1 MiB: fifty that name a large value cost about as much as one',
  () => {
    const input = (expressions: number) => ({
      data: { large: 'x'.repeat(900_000) },
      search_indexes: Array.from({ length: 20 }, (_, at) => `${'{{data.large}}'.repeat(expressions)}${at}`),
    });
    const read = (expressions: number) => () => faultsOf(() => readTokenInput(input(expressions), '', reading()));
    expect([read(1)(), read(20)()]).toEqual([0, 20]);
    expect(workOf(read(20))).toBeLessThan(3 * workOf(read(1)));
  },
);

describe('what all templates of one request come to is bounded, since fifty indexes can name the data fifty times each', () => {
  const input = (bytes: number) => ({
    data: 'x'.repeat(bytes),
    search_indexes: Array.from({ length: 50 }, (_, at) => `${at}${'{{data}}'.repeat(49)}`),
  });
  const shared = () => ({ now: new Date(), budget: filterBudget() });

  test('beyond 9 Mi characters it is 413; the control: half as much is read', () => {
    const refused = expect.objectContaining({ code: 'payload_too_large', detail: expect.stringContaining('9 Mi') });
    expect(() => readTokenInput(input(2000), '', shared())).toThrow(refused);
    expect(readTokenInput(input(900), '', shared()).searchTexts).toHaveLength(50);
  });

  test('tokens of one request share it', () => {
    const reading = shared();
    readTokenInput(input(900), '', reading);
    readTokenInput(input(900), '', reading);
    expect(() => readTokenInput(input(900), '', reading)).toThrow('9 Mi');
  });
});
