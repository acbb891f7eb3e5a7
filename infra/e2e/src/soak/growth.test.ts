import { barsOf, growthBetween } from './growth.ts';
import type { Sample } from './samples.ts';

interface Held {
  pid: number;
  memory: number;
  sockets: number;
  sessions: number;
  keys: number;
}

const usual: Held = { pid: 1, memory: 100, sockets: 50, sessions: 30, keys: 10 };

function sample(at: number, part: Partial<Held> = {}): Sample {
  const { pid, memory, sockets, sessions, keys } = { ...usual, ...part };
  const process = `gateway-1 (${pid})`;
  const held = { [`${process} memory`]: memory, [`${process} sockets`]: sockets, [`${process} threads`]: 11 };
  return { at, held: new Map(Object.entries({ ...held, 'Postgres sessions': sessions, 'Redis keys': keys })) };
}

const calms = [
  { from: 0, until: 10 },
  { from: 90, until: 100 },
] as const;
const leaks = (samples: Sample[]) =>
  growthBetween(samples, calms).flatMap(({ name, after, most }) => (after > most ? [name] : []));

test('what grows is found, of a process and of a store', () => {
  expect(leaks([sample(5), sample(95, { memory: 110, sockets: 55, sessions: 35 })])).toEqual([]);
  expect(leaks([sample(5), sample(95, { memory: 300, sockets: 90, sessions: 90, keys: 1000 })])).toEqual([
    'gateway-1 (1) memory',
    'gateway-1 (1) sockets',
    'Postgres sessions',
    'Redis keys',
  ]);
});

test('a process that was started anew is not compared with the one before', () => {
  const samples = [sample(5), sample(95, { pid: 2, memory: 300 })];
  expect(growthBetween(samples, calms).map(({ name }) => name)).toEqual(['Postgres sessions', 'Redis keys']);
});

test('the least value is the lowest bar, the greatest the highest, and what is unknown is a blank', () => {
  expect(barsOf([10, 80, undefined, 45])).toBe('▁█ ▅');
  expect(barsOf([5, 5])).toBe('▁▁');
  expect(barsOf(Array.from({ length: 1000 }, (_, at) => at))).toMatch(/^▁.{58}█$/);
});
