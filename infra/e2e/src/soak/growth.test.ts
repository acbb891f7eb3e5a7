import { growthBetween } from './growth.ts';
import type { Sample } from './samples.ts';

const sample = (at: number, gateway: { pid: number; memory: number; sockets: number }, redisKeys = 10): Sample => ({
  at,
  processes: new Map([['gateway-1', { threads: 11, ...gateway }]]),
  postgresConnections: 30,
  redisKeys,
});
const calms = [
  { from: 0, until: 10 },
  { from: 90, until: 100 },
] as const;
const leaks = (samples: Sample[]) =>
  growthBetween(samples, calms).flatMap(({ name, after, most }) => (after > most ? [name] : []));

test('what grows is found, of a process and of a store', () => {
  const start = sample(5, { pid: 1, memory: 100, sockets: 50 });
  expect(leaks([start, sample(95, { pid: 1, memory: 110, sockets: 55 })])).toEqual([]);
  expect(leaks([start, sample(95, { pid: 1, memory: 300, sockets: 90 }, 1000)])).toEqual([
    'gateway-1 memory',
    'gateway-1 sockets',
    'redisKeys',
  ]);
});

test('a process that was started anew is not compared with the one before', () => {
  const samples = [sample(5, { pid: 1, memory: 100, sockets: 50 }), sample(95, { pid: 2, memory: 300, sockets: 50 })];
  expect(growthBetween(samples, calms).map(({ name }) => name)).toEqual(['postgresConnections', 'redisKeys']);
});
