import type { AtOnceOrLater } from '@sluice/cache-coherence';
import type { Pieces } from '@sluice/service-runtime';
import { Automaton } from './automaton.ts';
import { patternsOf } from './forms.ts';
import type { GuardedValues } from './guarded-values.ts';
import { type GuardMode, ResponseGuard } from './response-guard.ts';

/** All forms of a byte of a value together, at most. */
const bytesOfForms = 100;

interface Opening {
  /** Resolves when this many bytes more may be used. */
  reserve(bytes: number): AtOnceOrLater<void>;
  inPieces<T>(work: Pieces<T>): AtOnceOrLater<T>;
}

/** Undefined if there is nothing to look for. Call it before the head of the answer is written. */
export async function openGuard(
  mode: GuardMode,
  values: GuardedValues,
  opening: Opening,
): Promise<ResponseGuard | undefined> {
  const automaton = await automatonFor(values, opening);
  return automaton && new ResponseGuard(mode, automaton, values.expressions);
}

/** ResponseGuard.lookFor takes one as well, once more values have been put in. */
async function automatonFor({ texts }: GuardedValues, { reserve, inPieces }: Opening): Promise<Automaton | undefined> {
  if (texts.length === 0) return undefined;
  await reserve(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) * bytesOfForms);
  const patterns = await inPieces(patternsOf(texts));
  await reserve(Automaton.bytesFor(patterns));
  return inPieces(Automaton.build(patterns));
}
