import { checkHistory } from './check-history.ts';
import type { Fault, History, Invocation, Regeneration, SingleKey } from './history.ts';
import { emptyHistory, readConfirmation } from './history.ts';
import { afterEffectMs } from './key-timeline.ts';

const confirmation = { changeId: 'a', holders: 3, waitedMs: 5 };

/** Regenerations of Application 0: [sent, answered, outcome]. */
function regenerations(...made: [number, number, ('confirmed' | 'indeterminate')?][]): Regeneration[] {
  return made.map(([startedAt, endedAt, outcome = 'confirmed'], index) => ({
    application: 0,
    number: index + 1,
    startedAt,
    endedAt,
    outcome,
    detail: outcome === 'confirmed' ? '200' : '503',
    ...(outcome === 'confirmed' && { confirmation }),
  }));
}

function invocation(key: number, [startedAt, endedAt]: [number, number], detail: string): Invocation {
  const outcome = detail === '200' || detail === '502' ? 'accepted' : detail === '401' ? 'refused' : 'undecided';
  return { application: 0, key, target: 'gateway-1', startedAt, endedAt, outcome, detail };
}

function check(made: Regeneration[], invocations: Invocation[], faults: Fault[] = []) {
  return countFindings({ ...emptyHistory(), regenerations: made, invocations, faults });
}

function countFindings(history: History) {
  const verdict = checkHistory(history);
  return {
    stale: verdict.staleAccepts.length,
    refused: verdict.wrongRefusals.length,
    failed: verdict.failedValid.length,
    judged: verdict.judged,
  };
}

const nothing = { stale: 0, refused: 0, failed: 0 };

test('an accept of a key that had been revoked when the invocation began is stale', () => {
  expect(check(regenerations([10, 20]), [invocation(0, [21, 30], '200')])).toMatchObject({ stale: 1 });
  expect(check(regenerations([10, 20]), [invocation(0, [21, 30], '502')])).toMatchObject({ stale: 1 });
  expect(check(regenerations([10, 20], [30, 40]), [invocation(0, [50, 60], '200')])).toMatchObject({ stale: 1 });
  expect(check(regenerations([10, 20], [30, 40]), [invocation(1, [50, 60], '200')])).toMatchObject({ stale: 1 });
});

test('an accept of an invocation that had begun before the answer came is none', () => {
  expect(check(regenerations([10, 20]), [invocation(0, [19, 90], '200')])).toEqual({ ...nothing, judged: 0 });
});

test('what is revoked may be refused, or fail', () => {
  const invocations = ['401', '503', 'ECONNRESET', 'timeout'].map((detail) => invocation(0, [21, 30], detail));
  expect(check(regenerations([10, 20]), invocations)).toEqual({ ...nothing, judged: 4 });
});

test('a regeneration of unknown outcome revokes nothing until the next success, which revokes all before it', () => {
  const made = regenerations([10, 20, 'indeterminate'], [30, 40, 'indeterminate'], [50, 60]);
  expect(check(made, [invocation(0, [45, 49], '200'), invocation(0, [45, 49], '401')])).toEqual({
    ...nothing,
    judged: 0,
  });
  expect(check(made, [invocation(0, [61, 62], '200')])).toMatchObject({ stale: 1 });
});

test('a refusal of the newest key between its answer and the next regeneration is wrong', () => {
  const made = regenerations([10, 20], [50, 60]);
  expect(check(made, [invocation(1, [21, 49], '401')])).toEqual({ ...nothing, refused: 1, judged: 1 });
  expect(check(made, [invocation(1, [19, 49], '401'), invocation(1, [21, 51], '401')])).toEqual({
    ...nothing,
    judged: 0,
  });
  expect(check(made, [invocation(2, [61, 70], '401')])).toMatchObject({ refused: 1 });
  expect(check(made, [invocation(0, [1, 9], '401')])).toMatchObject({ refused: 1 });
});

test('a key that a late regeneration of unknown outcome may have replaced may be refused', () => {
  const made = regenerations([10, 20, 'indeterminate'], [30, 40], [30 + afterEffectMs, 40 + afterEffectMs]);
  expect(check(made, [invocation(2, [41, 49], '401')])).toMatchObject({ refused: 0 });
  const later = 50 + afterEffectMs;
  expect(check(made, [invocation(3, [later, later + 1], '401')])).toMatchObject({ refused: 1 });
});

test('another failure of an invocation that was sent with the newest key is counted, whatever came meanwhile', () => {
  const invocations = ['503', 'ECONNRESET', '502'].map((detail) => invocation(1, [21, 30], detail));
  expect(check(regenerations([10, 20]), invocations)).toEqual({ ...nothing, failed: 3, judged: 3 });
  const overlapping = [invocation(1, [21, 90], '503'), invocation(1, [51, 90], '503'), invocation(1, [19, 30], '503')];
  expect(check(regenerations([10, 20], [50, 60]), overlapping)).toMatchObject({ failed: 1 });
  expect(check(regenerations([10, 20]), [invocation(1, [21, 30], '200')])).toEqual({ ...nothing, judged: 1 });
});

test('Applications are judged apart', () => {
  const other = regenerations([10, 20]).map((one) => ({ ...one, application: 1 }));
  expect(check(other, [invocation(0, [30, 40], '200')])).toEqual({ ...nothing, judged: 0 });
});

describe('single keys', () => {
  /** The second key of Application 0, which expires between 99 and 100. */
  function checkSingle(parts: Partial<SingleKey>, invocations: Invocation[]) {
    const key: SingleKey = { application: 0, number: 1, id: 'k', givenAt: 10, expiresAt: 99, expiredAt: 100, ...parts };
    return countFindings({ ...emptyHistory(), singleKeys: [key], invocations });
  }
  const deleted = { deletionSentAt: 50, deletedAt: 60 };

  test('an accept that began after the deletion had been confirmed, or after the expiry, is stale', () => {
    expect(checkSingle(deleted, [invocation(1, [61, 70], '200')])).toMatchObject({ stale: 1 });
    expect(checkSingle({}, [invocation(1, [101, 110], '200')])).toMatchObject({ stale: 1 });
    expect(checkSingle({ deletionSentAt: 50 }, [invocation(1, [101, 110], '200')])).toMatchObject({ stale: 1 });
  });

  test('an accept that began before is none, whatever became of a deletion without a success', () => {
    const early = [invocation(1, [59, 70], '200')];
    expect(checkSingle(deleted, early)).toEqual({ ...nothing, judged: 0 });
    expect(checkSingle({ deletionSentAt: 50 }, [invocation(1, [61, 70], '200')])).toEqual({ ...nothing, judged: 0 });
    expect(checkSingle({}, [invocation(1, [99.5, 110], '200')])).toEqual({ ...nothing, judged: 0 });
  });

  test('a refusal between the answer that gave it and its end is wrong, later it is none', () => {
    expect(checkSingle(deleted, [invocation(1, [11, 49], '401')])).toMatchObject({ refused: 1 });
    expect(checkSingle({}, [invocation(1, [61, 98], '401')])).toMatchObject({ refused: 1 });
    const late = [invocation(1, [11, 51], '401'), invocation(1, [51, 59], '401'), invocation(1, [61, 70], '401')];
    expect(checkSingle(deleted, late)).toEqual({ ...nothing, judged: 1 });
    expect(checkSingle({}, [invocation(1, [9, 11], '401'), invocation(1, [98, 99], '401')])).toMatchObject(nothing);
  });

  test('the first key of the Application is valid always', () => {
    const invocations = [
      invocation(0, [1, 9], '401'),
      invocation(0, [55, 65], '401'),
      invocation(0, [101, 102], '401'),
    ];
    expect(checkSingle(deleted, invocations)).toEqual({ ...nothing, refused: 3, judged: 3 });
  });

  test('their changes must say how they were confirmed', () => {
    const [change] = regenerations([10, 20]);
    const singleKeyChanges = [{ ...change, confirmation: undefined } as Regeneration];
    expect(checkHistory({ ...emptyHistory(), singleKeyChanges }).unexplained).toHaveLength(1);
  });
});

test('a success must say how it was confirmed', () => {
  const [silent, telling] = regenerations([10, 20], [30, 40]);
  const all = [{ ...silent, confirmation: undefined } as Regeneration, telling as Regeneration];
  const { unexplained } = checkHistory({ ...emptyHistory(), regenerations: all });
  expect(unexplained.map(({ number }) => number)).toEqual([1]);
});

test('the confirmation is read from its header', () => {
  const id = 'f7a0c7b6-3f5a-4f6c-9d6a-0123456789ab';
  expect(readConfirmation(`change=${id}, holders=3, waited_ms=12`)).toEqual({ changeId: id, holders: 3, waitedMs: 12 });
  for (const header of [undefined, '', `change=${id}`, 'change=x, holders=1, waited_ms=1']) {
    expect(readConfirmation(header)).toBeUndefined();
  }
});
