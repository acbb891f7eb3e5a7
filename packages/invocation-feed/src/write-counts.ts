import type { Database, Queryable } from '@sluice/database';
import { sql } from 'kysely';
import { addCounts, type Counts, emptyCounts } from './figures.ts';
import type { CountedStep, Series } from './read-counts.ts';

/** Proxies, Applications and reactors of a Tenant that have rows of their own in one step. */
export const mostSeries = 200;

const steps: readonly CountedStep[] = [60, 900, 21_600];

/** What a series has counted in one minute. */
export interface MinuteOfSeries {
  series: Series;
  /** Minutes since 1970. */
  minute: number;
  counts: Counts;
}

interface Row {
  step: number;
  /** Milliseconds since 1970. */
  start: number;
  kind: Series['kind'] | 'rest';
  id: string;
  counts: Counts;
}

/**
 * Adds to the rows of a Tenant: all minutes or, if it throws, none. Nothing is written for a Tenant that is closed, because its
 * rows are being purged. The lock on its row also makes gateways take turns, so that they agree on which series have rows.
 */
export function writeCounts(db: Database, tenantId: string, minutes: readonly MinuteOfSeries[]): Promise<void> {
  return db.transaction().execute(async (tx) => {
    const tenant = tx.selectFrom('tenants').select('id').where('id', '=', tenantId).where('closed_at', 'is', null);
    if (!(await tenant.forNoKeyUpdate().executeTakeFirst())) return;
    const rows = rowsOf(minutes);
    const known = await listSeries(tx, tenantId, new Set(rows.map(({ start }) => start)));
    await addRows(tx, tenantId, withinLimit(rows, { known, tenantId }));
  });
}

/** Each minute counts in a row of each step. */
function rowsOf(minutes: readonly MinuteOfSeries[]): Row[] {
  const rows = new Map<string, Row>();
  for (const { series, minute, counts } of minutes) {
    for (const step of steps) addToRow(rows, { ...series, step, start: startOf(minute, step), counts });
  }
  return [...rows.values()];
}

const startOf = (minute: number, step: number) => Math.floor((minute * 60) / step) * step * 1000;

function addToRow(rows: Map<string, Row>, { counts, ...row }: Row): void {
  const key = `${placeOf(row)} ${row.kind} ${row.id}`;
  const found = rows.get(key) ?? { ...row, counts: emptyCounts() };
  rows.set(key, found);
  addCounts(found.counts, counts);
}

const placeOf = ({ step, start }: Pick<Row, 'step' | 'start'>) => `${step} ${start}`;
const nameOf = ({ kind, id }: Pick<Row, 'kind' | 'id'>) => `${kind} ${id}`;

/** The series that have rows, by the place of these. */
async function listSeries(
  tx: Queryable,
  tenantId: string,
  starts: ReadonlySet<number>,
): Promise<Map<string, Set<string>>> {
  const rows = await tx
    .selectFrom('invocation_counts')
    .select(['step', 'start', 'kind', 'id'])
    .where('tenant_id', '=', tenantId)
    .where('step', 'in', steps)
    .where('start', '=', sql<string>`any(${[...starts].map(toDate)}::timestamptz[])`)
    .where('kind', 'in', ['proxy', 'application', 'reactor'])
    .execute();
  const known = new Map<string, Set<string>>();
  for (const row of rows) {
    const place = placeOf({ step: row.step, start: Date.parse(row.start) });
    known.set(place, (known.get(place) ?? new Set()).add(nameOf(row)));
  }
  return known;
}

/** Adds series beyond the limit to one row. The busiest of the new ones get the places that are left. */
function withinLimit(
  rows: readonly Row[],
  { known, tenantId }: { known: Map<string, Set<string>>; tenantId: string },
): Row[] {
  const within = new Map<string, Row>();
  for (const row of rows.toSorted((a, b) => b.counts.requests - a.counts.requests)) {
    const names = known.get(placeOf(row)) ?? new Set();
    known.set(placeOf(row), names);
    const hasRow = row.kind === 'tenant' || names.has(nameOf(row)) || names.size < mostSeries;
    if (hasRow && row.kind !== 'tenant') names.add(nameOf(row));
    addToRow(within, hasRow ? row : { ...row, kind: 'rest', id: tenantId });
  }
  return [...within.values()];
}

async function addRows(tx: Queryable, tenantId: string, rows: readonly Row[]): Promise<void> {
  const added = rows.map(({ step, start, kind, id, counts }) => ({
    ...{ step, start: toDate(start), kind, id },
    requests: counts.requests,
    destination_errors: counts.destinationErrors,
    errors: Object.fromEntries(counts.errors),
    durations: Object.fromEntries(counts.durations),
  }));
  await sql`
    insert into invocation_counts
      (tenant_id, step, start, kind, id, requests, destination_errors, errors, durations)
    select ${tenantId}::uuid, step, start, kind, id, requests, destination_errors, errors, durations
    from jsonb_to_recordset(${JSON.stringify(added)}::jsonb) as added(
      step integer, start timestamptz, kind text, id uuid,
      requests bigint, destination_errors bigint, errors jsonb, durations jsonb)
    on conflict (tenant_id, step, start, kind, id) do update set
      requests = invocation_counts.requests + excluded.requests,
      destination_errors = invocation_counts.destination_errors + excluded.destination_errors,
      errors = add_counts(invocation_counts.errors, excluded.errors),
      durations = add_counts(invocation_counts.durations, excluded.durations)
  `.execute(tx);
}

const toDate = (ms: number) => new Date(ms).toISOString();
