import type { Outcome, RunAnswer } from './thread/outcome.ts';
import { newTrackRecord } from './track-record.ts';

let now = 0;
const openRecord = () => newTrackRecord({ slowMs: 200, newCodeMs: 20, memoryMs: 60_000, clock: () => now });
const answer = (
  cpuMs: number,
  outcome: Outcome = { kind: 'result', bodyJson: '1', headersJson: undefined },
  hostCalls = 0,
  isCut = false,
): RunAnswer => ({
  cpuMs,
  durationMs: cpuMs,
  hostCalls,
  isCut,
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
  ['an error of the code', { kind: 'thrown', failure: { kind: 'error' } }, undefined],
  ['too much output', { kind: 'stopped', by: 'outputBytes' }, 'outputBytes'],
] as const)('%s is a quick end', (_, outcome, limit) => {
  const record = openRecord();
  record.ended('a', 'code', answer(1, outcome), limit);
  expect([record.isKnown('a', 'code'), record.givesWay('a', 'code')]).toEqual([true, false]);
});

test.each([
  ['a slow run', answer(200), undefined],
  ['one that was ended for it', answer(200, { kind: 'slow' }), undefined],
  ['one that was as slow after its answer', answer(200, undefined, 0, true), undefined],
  ['a kill', answer(1, { kind: 'thrown', failure: { kind: 'error' } }), 'heapBytes'],
  ['the end of the thread', undefined, undefined],
] as const)('%s makes its Tenant slow for a minute, and nobody else', (_, end, limit) => {
  const record = openRecord();
  for (const tenantId of ['a', 'b']) record.ended(tenantId, 'code', answer(1));
  const slow = () => ['a', 'b'].map((tenantId) => record.givesWay(tenantId, 'code'));
  expect(slow()).toEqual([false, false]);
  record.ended('a', 'code', end, limit);
  record.ended('a', 'other code', answer(1));
  now += 59_999;
  expect(slow()).toEqual([true, false]);
  now += 1;
  expect(slow()).toEqual([false, false]);
});

test('code that is not known has less time', () => {
  const record = openRecord();
  record.ended('a', 'code', answer(1));
  expect([record.quickMs('a', 'code'), record.quickMs('a', 'new'), record.quickMs('b', 'code')]).toEqual([200, 20, 20]);
});

test.each([
  ['', answer(20, { kind: 'slow' })],
  [' after its answer', answer(20, undefined, 0, true)],
  [' after its error', answer(20, { kind: 'thrown', failure: { kind: 'error' } }, 0, true)],
])('where that was too little%s, new code of its Tenant gives way for a minute, until it is known', (_, end) => {
  const record = openRecord();
  for (const tenantId of ['a', 'b']) record.ended(tenantId, 'known', answer(1));
  record.ended('a', 'code', end);
  const thatGiveWay = () => ['known', 'code', 'new'].filter((code) => record.givesWay('a', code));
  expect([record.isKnown('a', 'code'), record.givesWay('b', 'code')]).toEqual([false, false]);
  expect(thatGiveWay()).toEqual(['code', 'new']);
  record.ended('a', 'code', answer(199));
  expect(thatGiveWay()).toEqual(['new']);
  now += 60_000;
  expect(thatGiveWay()).toEqual([]);
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

test('a Tenant that fills that memory makes no other forget', () => {
  const record = openRecord();
  record.ended('older', 'code', answer(1));
  for (let i = 0; i < 40; i += 1) record.ended('full', `${i}`.padEnd(2 ** 18), answer(1));
  record.ended('newer', 'code', answer(1));
  for (let i = 40; i < 80; i += 1) record.ended('full', `${i}`.padEnd(2 ** 18), answer(1));
  expect(['older', 'newer'].map((tenantId) => record.isKnown(tenantId, 'code'))).toEqual([true, true]);
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
