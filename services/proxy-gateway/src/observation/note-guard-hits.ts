import type { Context } from '../context.ts';
import { rowOf } from '../detokenization/disclose.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { noteGuardTokenIds } from './note-for-feed.ts';

/** Tells the log, the metrics and the feed what the guard found. Called when the response has ended. */
export function noteGuardHits(
  invocation: Invocation,
  { vault, metrics, log }: Pick<Context, 'vault' | 'metrics' | 'log'>,
): void {
  const { acting, traceId } = invocation;
  const { hits, tokenIds } = acting.guard?.found ?? { hits: 0, tokenIds: [] };
  if (hits === 0) return;
  invocation.guardHits = hits;
  noteGuardTokenIds(invocation, tokenIds);
  metrics.guardFound(hits);
  const { caller } = acting;
  const row = rowOf(invocation, { caller, application: caller, tokenIds, places: [] });
  const recorded = vault.disclosures.record({ ...row, detail: { ...row.detail, guard_hits: hits } });
  recorded?.catch((err: unknown) =>
    log.error({ err, trace_id: traceId }, 'the log has no row of what a response guard found'),
  );
}
