import type { CountedKind, Queryable } from '@sluice/database';
import { sql } from 'kysely';
import type { Counts } from './figures.ts';

/** Seconds of a row. Each invocation is counted in a row of each. */
export type CountedStep = 60 | 900 | 21_600;

/** What is counted together in a Tenant; `id` is the Tenant's if `kind` is `tenant`. */
export interface Series {
  kind: CountedKind;
  id: string;
}

interface ReadRange {
  series: Series;
  step: CountedStep;
  /** Seconds since 1970; exclusive at the end. */
  from: number;
  to: number;
}

/**
 * The counts of a series by the start of their row, in seconds since 1970. No row means no invocations, and undefined that the
 * series may be among those beyond the limit, so that its counts are unknown.
 */
export async function readCounts(
  db: Queryable,
  tenantId: string,
  { series: { kind, id }, step, from, to }: ReadRange,
): Promise<Map<number, Counts | undefined>> {
  const rows = await db
    .selectFrom('invocation_counts')
    .select(['start', 'kind', 'requests', 'destination_errors', 'errors', 'durations'])
    .where('tenant_id', '=', tenantId)
    .where('step', '=', step)
    .where('start', '>=', toDate(from))
    .where('start', '<', toDate(to))
    .where(({ or, and }) => or([and({ kind, id }), and({ kind: kind === 'tenant' ? 'tenant' : 'rest', id: tenantId })]))
    .execute();
  const found = new Map<number, Counts | undefined>();
  for (const { start, kind: of, requests, destination_errors: destinationErrors, errors, durations } of rows) {
    const at = Date.parse(start) / 1000;
    if (of !== 'rest') {
      const byBucket = Object.entries(durations).map(([bucket, count]) => [Number(bucket), count] as const);
      found.set(at, {
        requests,
        destinationErrors,
        errors: new Map(Object.entries(errors)),
        durations: new Map(byBucket),
      });
    } else if (!found.has(at)) found.set(at, undefined);
  }
  return found;
}

/** When counting began, in milliseconds since 1970: with the migration, and for a Tenant with its creation. */
export async function readKnownFrom(db: Queryable, tenantId: string): Promise<number> {
  const { rows } = await sql<{ known_from: string }>`
    select greatest(tenants.created_at, migration.timestamp::timestamptz) as known_from
    from tenants, kysely_migration as migration
    where tenants.id = ${tenantId} and migration.name = '0087-invocation-counts'
  `.execute(db);
  return Date.parse(rows[0]?.known_from ?? '');
}

const toDate = (seconds: number) => new Date(seconds * 1000).toISOString();
