import type { AtOnceOrLater } from '@sluice/cache-coherence';
import type { Context } from '../../context.ts';
import { copies } from '../../limits/body-memory.ts';
import { filterInPieces, knownResults, mostTextIn } from '../detokenize.ts';
import { hasFilter, type Place } from '../place.ts';
import type { Resolve } from './line.ts';
import type { Filling } from './part.ts';

export type FillingHeads = Pick<Context, 'bodyLimitBytes' | 'workPieces'>;

/** Values up to this size need no memory beyond the head itself. */
const smallGrowth = 16 * 1024;

/** Calls `use` with the values for places of the head: at once if no filter runs and the values are small. */
export function withValues<T>(
  places: readonly Place[],
  { invocation, values }: Filling,
  context: FillingHeads,
  use: (resolve: Resolve) => T,
): AtOnceOrLater<T> {
  const most = mostTextIn(places, values);
  const isFiltered = places.some(({ segments }) => segments.some(hasFilter));
  if (!isFiltered && most <= smallGrowth) return use(({ reference }) => values.get(reference) ?? null);
  const limitBytes = context.bodyLimitBytes;
  const reserve = async () => {
    if (most <= smallGrowth) return;
    await invocation.acting.memory.part('request').grow(Math.min(most, limitBytes) * copies);
  };
  return reserve()
    .then(() =>
      context.workPieces.run(
        invocation.proxy.tenantId,
        filterInPieces(places, { values, limitBytes, putIn: invocation.acting.guard?.values }),
      ),
    )
    .then((filtered) => use(knownResults(values, filtered)));
}
