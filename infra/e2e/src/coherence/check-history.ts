import type { History, Invocation, KeyChange, KeyNumber } from './history.ts';
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
});

export type Verdict = ReturnType<typeof emptyVerdict>;

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
