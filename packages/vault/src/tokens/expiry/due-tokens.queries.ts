import type { Database, DueTokensTable, Queryable } from '@sluice/database';
import { type RawBuilder, sql } from 'kysely';
import type { TokenRow } from '../token.ts';

export type DueKind = DueTokensTable['kind'];

type DueMoments = Pick<TokenRow, 'expires_at' | 'cvc_due_at'>;

const columnOf = { expiry: 'expires_at', cvc: 'cvc_due_at' } as const;
const minuteMs = 60_000;

/** A minute until the noted minute ends, and another for transactions that still write tokens due in it. */
const settled = sql`interval '2 minutes'`;

export function dueMinutes(tokens: readonly DueMoments[]): { kinds: DueKind[]; minutes: string[] } {
  const names = new Set<string>();
  for (const { expires_at, cvc_due_at } of tokens) {
    if (expires_at !== null) names.add(`expiry ${minuteOf(expires_at)}`);
    if (cvc_due_at !== null) names.add(`cvc ${minuteOf(cvc_due_at)}`);
  }
  const pairs = [...names].sort().map((name) => name.split(' ') as [DueKind, string]);
  return { kinds: pairs.map(([kind]) => kind), minutes: pairs.map(([, minute]) => minute) };
}

function minuteOf(moment: string): string {
  return new Date(Math.floor(Date.parse(moment) / minuteMs) * minuteMs).toISOString();
}

/** Call it in the transaction that writes the tokens. A past time counts as now, because past minutes are deleted. */
export async function noteDue(tx: Queryable, tenantId: string, tokens: readonly DueMoments[]): Promise<void> {
  const { kinds, minutes } = dueMinutes(tokens);
  if (kinds.length === 0) return;
  await insertDue({ tenantId, kinds, minutes }).execute(tx);
}

export const insertDue = (
  { tenantId, kinds, minutes }: { tenantId: string } & ReturnType<typeof dueMinutes>,
  condition: RawBuilder<unknown> = sql``,
) => sql`
  insert into due_tokens (tenant_id, kind, due_at)
  select distinct ${tenantId}::uuid, kind, greatest(due_at, date_trunc('minute', statement_timestamp()))
  from unnest(${kinds}::text[], ${minutes}::timestamptz[]) as each(kind, due_at)
  ${condition}
  order by 2, 3
  on conflict do nothing
`;

export async function listDueTenants(db: Database, kind: DueKind): Promise<string[]> {
  const { rows } = await sql<{ tenant_id: string }>`
    select distinct tenant_id from due_tokens where kind = ${kind} and due_at <= statement_timestamp()
  `.execute(db);
  return rows.map(({ tenant_id }) => tenant_id);
}

/** Deletes a Tenant's past minutes, unless something due is left because another worker is deleting it. */
export async function forgetDue(db: Database, tenantId: string, kind: DueKind): Promise<void> {
  if (await hasDue(db, tenantId, kind)) return;
  await sql`
    delete from due_tokens
    where tenant_id = ${tenantId} and kind = ${kind} and due_at <= statement_timestamp() - ${settled}
  `.execute(db);
}

/** Adds tokens that are due but were never noted, such as those of versions before `due_tokens`. */
export async function noteOverlooked(db: Database, tenantId: string): Promise<void> {
  const past = new Date(0).toISOString(); // counts as now, whatever this process's clock says
  const noteKind = async (kind: DueKind) => {
    if (!(await hasDue(db, tenantId, kind))) return;
    await noteDue(db, tenantId, [{ expires_at: null, cvc_due_at: null, [columnOf[kind]]: past }]);
  };
  await noteKind('expiry');
  await noteKind('cvc');
}

async function hasDue(db: Queryable, tenantId: string, kind: DueKind): Promise<boolean> {
  const column = sql.ref(columnOf[kind]);
  const { rows } = await sql`
    select from tokens where tenant_id = ${tenantId} and ${column} <= statement_timestamp() limit 1
  `.execute(db);
  return rows.length > 0;
}
