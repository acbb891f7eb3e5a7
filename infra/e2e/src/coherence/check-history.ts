import type { Fault, History, Invocation, KeyChange, KeyNumber } from './history.ts';
import { type KeyLife, keyLives, singleKeyLives } from './key-timeline.ts';

export interface Finding {
  invocation: Invocation;
  life: KeyLife;
}

const emptyVerdict = () => ({
  /** Invocations that began after the success that revoked their key had arrived, or after it had expired, and were accepted. */
  staleAccepts: [] as Finding[],
  /** Refused invocations whose key was certainly valid during the whole invocation. */
  wrongRefusals: [] as Finding[],
  /** Invocations sent with such a key that got neither 200 nor a refusal. */
  failedValid: [] as Finding[],
  /** Invocations with a key that was surely valid, or surely revoked, for as long as they took. */
  judged: 0,
  /** Successes that do not say how they were confirmed. */
  unexplained: [] as KeyChange[],
  /** Successes that waited longer than a lease, with no fault at Postgres to blame; where they are rare, only the longest. */
  overlong: [] as KeyChange[],
});

export type Verdict = ReturnType<typeof emptyVerdict>;

/** A lease, and a second for a machine that has other things to do. */
export const longestWaitMs = 2000 + 1000;

/** One change in a hundred may wait so long where the machine has other things to do. */
export const rareWaitMs = 2000 + 3000;

/** After a fault of Postgres, waiting statements delay others for this long. */
const aftermathMs = 2000;

/** Judges what the clients saw by what they were promised. It knows nothing of how the promise is kept. */
export function checkHistory(history: History): Verdict {
  const { regenerations, singleKeyChanges, invocations } = history;
  const lives = livesOf(history);
  const verdict = emptyVerdict();
  for (const invocation of invocations) {
    const life = lives.get(invocation.application)?.get(invocation.key);
    if (life) judge({ invocation, life }, verdict);
  }
  for (const change of [...regenerations, ...singleKeyChanges]) {
    if (change.outcome !== 'confirmed') continue;
    if (!change.confirmation) verdict.unexplained.push(change);
  }
  verdict.overlong = overlongOf(history);
  return verdict;
}

/** Of an Application either the key is regenerated, or single keys come and go. */
function livesOf({ regenerations, singleKeys }: History): Map<number, Map<KeyNumber, KeyLife>> {
  const regenerated = Map.groupBy(regenerations, ({ application }) => application);
  const added = Map.groupBy(singleKeys, ({ application }) => application);
  return new Map([
    ...Array.from(regenerated, ([application, made]) => [application, keyLives(made)] as const),
    ...Array.from(added, ([application, keys]) => [application, singleKeyLives(keys)] as const),
  ]);
}

function judge(finding: Finding, verdict: Verdict): void {
  const { invocation, life } = finding;
  const { startedAt, endedAt, outcome } = invocation;
  if (startedAt > life.revokedAt) {
    verdict.judged += 1;
    if (outcome === 'accepted') verdict.staleAccepts.push(finding);
    return;
  }
  if (startedAt <= life.givenAt || startedAt >= life.contestedAt) return;
  const isSurelyValid = !life.isUncertain && endedAt < life.contestedAt;
  if (isSurelyValid) verdict.judged += 1;
  // If the key had been invalid at the check, the response would be 401.
  if (outcome !== 'refused' && invocation.detail !== '200') verdict.failedValid.push(finding);
  else if (outcome === 'refused' && isSurelyValid) verdict.wrongRefusals.push(finding);
}

function overlongOf({ regenerations, singleKeyChanges, faults }: History): KeyChange[] {
  const all = [...regenerations, ...singleKeyChanges].filter(({ outcome }) => outcome === 'confirmed');
  const longerThan = (ms: number) =>
    all.filter((change) => (change.confirmation?.waitedMs ?? 0) > ms && !isHindered(change, faults));
  const long = longerThan(longestWaitMs);
  return long.length * 100 > all.length ? long : longerThan(rareWaitMs);
}

function isHindered({ startedAt, endedAt }: KeyChange, faults: readonly Fault[]): boolean {
  return faults.some(
    (fault) => fault.hindersWriters && fault.startedAt < endedAt && startedAt < fault.endedAt + aftermathMs,
  );
}
