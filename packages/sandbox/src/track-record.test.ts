import type { Outcome, RunAnswer } from './thread/outcome.ts';
import { newTrackRecord } from './track-record.ts';

let now = 0;
const openRecord = () => newTrackRecord({ slowMs: 200, memoryMs: 60_000, clock: () => now });
const answer = (
  cpuMs: number,
  outcome: Outcome = { kind: 'result', bodyJson: '1', headersJson: undefined },
  hostCalls = 0,
): RunAnswer => ({
  cpuMs,
  durationMs: cpuMs,
  hostCalls,
  outcome,
  console: [],
});

test('code is known once it has come to a quick end, for its own Tenant', () => {
  const record = openRecord();
  expect(record.isKnown('a', 'code')).toBe(false);
  record.ended('a', 'code', answer(199));
  expect([record.isKnown('a', 'code'), record.isKnown('a', 'new code'), record.isKnown('b', 'code')]).toEqual([
    true,
    false,
    false,
  ]);
});

test.each([
  ['an error of the code', { kind: 'thrown', failure: { kind: 'error' } }],
  ['too much output', { kind: 'stopped', by: 'outputBytes' }],
] as const)('%s is a quick end', (_, outcome) => {
  const record = openRecord();
  record.ended('a', 'code', answer(1, outcome));
  expect([record.isKnown('a', 'code'), record.isSlow('a')]).toEqual([true, false]);
});

test.each([
  ['a slow run', answer(200)],
  ['one that was ended for it', answer(1, { kind: 'slow' })],
  ['a kill', answer(1, { kind: 'stopped', by: 'heapBytes' })],
  ['the end of the thread', undefined],
])('%s makes its Tenant slow for a minute, and nobody else', (_, end) => {
  const record = openRecord();
  for (const tenantId of ['a', 'b']) record.ended(tenantId, 'code', answer(1));
  const slow = () => [record.isSlow('a'), record.isSlow('b')];
  expect(slow()).toEqual([false, false]);
  record.ended('a', 'code', end);
  record.ended('a', 'other code', answer(1));
  now += 59_999;
  expect(slow()).toEqual([true, false]);
  now += 1;
  expect(slow()).toEqual([false, false]);
});

test('what it remembers is bounded: code that is forgotten is learnt again', () => {
  const record = openRecord();
  const large = (name: string) => name.padEnd(2 ** 20);
  for (let i = 0; i < 20; i += 1) record.ended('a', large(`${i}`), answer(1));
  const known = () => Array.from({ length: 20 }, (_, i) => i).filter((i) => record.isKnown('a', large(`${i}`)));
  expect(known().length).toBeLessThan(10);
  record.ended('a', large('0'), answer(1));
  expect(known()).toContain(0);
});

test.each([
  ['is not known', [], 1],
  ['is quick', [answer(0.25)], 4],
  ['is very quick', [answer(0.001)], 16],
  ['was quicker before', [answer(0.1), answer(0.5)], 2],
  ['takes longer than a turn', [answer(30)], 1],
  ['calls the client', [answer(0.25, undefined, 1)], 1],
  ['is of a Tenant that is slow', [answer(0.25), undefined], 1],
] as const)('of code that %s so many runs may share a turn', (_, ends, expected) => {
  const record = openRecord();
  for (const end of ends) record.ended('a', 'code', end);
  expect(record.runsOfTurn('a', 'code')).toBe(expected);
});
