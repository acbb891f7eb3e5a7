import type { Fault, History, Invocation, Regeneration } from './history.ts';
import { type KeyLife, keyLives } from './key-timeline.ts';

/** An invocation that must not have gone as it went, with what is known of its key. */
export interface Finding {
  invocation: Invocation;
  life: KeyLife;
}

export interface Verdict {
  /** Invocations that began after the success that revoked their key had arrived, and were accepted. */
  staleAccepts: Finding[];
  /** Invocations with the newest key, sure to be valid for as long as they took, that were refused. */
  wrongRefusals: Finding[];
  /** Invocations sent with the newest key that got neither 200 nor a refusal. */
  failedValid: Finding[];
  /** Invocations with a key that was surely valid, or surely revoked, for as long as they took. */
  judged: number;
  /** Successes that do not say how they were confirmed. */
  unexplained: Regeneration[];
  /** Successes that waited longer than a lease, with no fault at Postgres to blame. */
  overlong: Regeneration[];
}

/** A lease, and a second for a machine that has other things to do. */
export const longestWaitMs = 2000 + 1000;

/** A fault at Postgres is felt until what waited for it has been worked off. */
const aftermathMs = 2000;

/** Judges what the clients saw by what they were promised. It knows nothing of how the promise is kept. */
export function checkHistory({ regenerations, invocations, faults }: History): Verdict {
  const byApplication = Map.groupBy(regenerations, ({ application }) => application);
  const lives = new Map(Array.from(byApplication, ([application, made]) => [application, keyLives(made)]));
  const verdict: Verdict = {
    staleAccepts: [],
    wrongRefusals: [],
    failedValid: [],
    judged: 0,
    unexplained: [],
    overlong: [],
  };
  for (const invocation of invocations) {
    const life = lives.get(invocation.application)?.get(invocation.key);
    if (life) judge({ invocation, life }, verdict);
  }
  for (const regeneration of regenerations) {
    if (regeneration.outcome !== 'confirmed') continue;
    if (!regeneration.confirmation) verdict.unexplained.push(regeneration);
    else if (regeneration.confirmation.waitedMs > longestWaitMs && !isHindered(regeneration, faults)) {
      verdict.overlong.push(regeneration);
    }
  }
  return verdict;
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
  // Were it not valid any more when it was looked at, the answer would be 401, and nothing else.
  if (outcome !== 'refused' && invocation.detail !== '200') verdict.failedValid.push(finding);
  else if (outcome === 'refused' && isSurelyValid) verdict.wrongRefusals.push(finding);
}

function isHindered({ startedAt, endedAt }: Regeneration, faults: readonly Fault[]): boolean {
  return faults.some(
    (fault) => fault.hindersWriters && fault.startedAt < endedAt && startedAt < fault.endedAt + aftermathMs,
  );
}
