import { checkHistory } from '../coherence/check-history.ts';
import { wrongAnswer } from '../coherence/client.ts';
import { emptyHistory, type History, type Invocation, type Regeneration } from '../coherence/history.ts';
import { Report } from '../faults/fault-test.ts';
import { type Bounds, disclosedIn, judgeFault, judgeInvocations, judgeWrites, type Seen } from './judgement.ts';

const invocation = (part: Partial<Invocation> = {}): Invocation => ({
  application: 0,
  key: 1,
  target: 'gateway-1',
  startedAt: 150,
  endedAt: 160,
  outcome: 'accepted',
  detail: '200',
  ...part,
});

const regeneration = (number: number, startedAt: number, endedAt: number): Regeneration => ({
  application: 0,
  number,
  startedAt,
  endedAt,
  outcome: 'confirmed',
  detail: '200',
  confirmation: { changeId: 'c', holders: 1, waitedMs: 1 },
});

const counts = { acknowledged: 5, batches: 1, unacknowledged: 0, lost: 0, duplicates: 0, partial: 0 };
const writes = { ...counts, answers: [], unexpected: [] };

/** A run in which key 1 is given at 20, a fault happens from 1000 to 2000, and key 2 is given at 9000. */
function run(invocations: Invocation[], part: Partial<Seen> = {}): Seen {
  const regenerations = [regeneration(1, 10, 20), regeneration(2, 8990, 9000)];
  const history: History = { ...emptyHistory(), regenerations, invocations };
  return {
    history,
    verdict: checkHistory(history),
    arrivals: new Map(invocations.map((_, number) => [number, 1])),
    writes,
    unrecorded: [],
    quietFrom: 100,
    faultFrom: 1000,
    faultUntil: 2000,
    endedAt: 10_000,
    ...part,
  };
}

function failuresOf(seen: Seen, bounds: Bounds): string[] {
  const report = new Report();
  judgeInvocations(report, seen);
  judgeWrites(report, seen);
  judgeFault(report, seen, bounds);
  return report.failures;
}

const failed = (startedAt: number) =>
  invocation({ startedAt, endedAt: startedAt + 10, outcome: 'undecided', detail: '503' });

test('a run in which all went well has no failures', () => {
  expect(failuresOf(run([invocation()]), { mostFailed: 0 })).toEqual([]);
});

test('what fails during the fault and shortly after it is only counted', () => {
  expect(failuresOf(run([failed(1500), failed(4000)]), {})).toEqual([]);
});

test.each<[what: string, seen: Seen, bounds: Bounds, failure: RegExp]>([
  ['a revoked key that is accepted', run([invocation({ startedAt: 9100, endedAt: 9110 })]), {}, /after its revocation/],
  ['a wrong refusal', run([invocation({ outcome: 'refused', detail: '401' })]), {}, /valid key was refused/],
  [
    'a wrong answer',
    run([invocation({ startedAt: 1500, endedAt: 1510, detail: wrongAnswer })]),
    {},
    /not the one that/,
  ],
  ['a failure before the fault', run([failed(500)]), {}, /while nothing did/],
  ['more failures than allowed', run([failed(1200), failed(1500)]), { mostFailed: 1 }, /more than 1 valid/],
  ['a late recovery', run([failed(5500)]), {}, /still failed 3510 ms/],
  ['an invocation that arrives twice', run([invocation()], { arrivals: new Map([[0, 2]]) }), {}, /arrived 2 times/],
  ['a lost write', run([], { writes: { ...writes, lost: 1 } }), {}, /1 acknowledged writes are lost/],
  ['a duplicate', run([], { writes: { ...writes, duplicates: 2 } }), {}, /2 creations are there more than once/],
  ['a batch in part', run([], { writes: { ...writes, partial: 1 } }), {}, /1 batches are there in part/],
  ['an answer that is none', run([], { writes: { ...writes, unexpected: ['500'] } }), {}, /was answered 500/],
  ['a disclosure without a row', run([], { unrecorded: ['invocation-3'] }), {}, /no row, such as invocation-3/],
])('%s is found', (_, seen, bounds, failure) => {
  const failures = failuresOf(seen, bounds);
  expect(failures.length).toBeGreaterThan(0);
  for (const one of failures) expect(one).toMatch(failure);
});

test('disclosed is what was answered, and what arrived though its caller never heard of it', () => {
  const history = run([invocation(), failed(1500), failed(1600)]).history;
  expect(disclosedIn(history, new Map([[2, 1]]))).toEqual(['invocation-0', 'invocation-2']);
});
