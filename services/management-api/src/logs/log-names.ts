import { holds, type PermissionType } from '@sluice/access';
import type { EntityType, Log } from '@sluice/audit';
import type { Caller } from '@sluice/credentials';
import type { NamedKind, Queryable } from '@sluice/database';
import { canonicalUuid } from '@sluice/http-api';
import { type RawBuilder, sql } from 'kysely';

/** Which kind of thing the ids of a row name. Other ids, for example of tokens and sessions, have no name. */
const kindOfEntity: Partial<Record<EntityType, NamedKind>> = {
  application: 'application',
  proxy: 'proxy',
  reactor: 'reactor',
  reactor_formula: 'reactor_formula',
  member: 'member',
  user: 'user',
};

const kindOfMember: Readonly<Record<string, NamedKind>> = {
  application_id: 'application',
  key_id: 'application_key',
  reactor_id: 'reactor',
  member_id: 'member',
  user_id: 'user',
  replaced_by: 'user',
};

interface Present {
  permission: PermissionType;
  /** Selects the name of the row `shown`. */
  name: (tenantId: string) => RawBuilder<unknown>;
}

const nameIn = (table: string) => (tenantId: string) =>
  sql`select name from ${sql.table(table)} as thing where thing.tenant_id = ${tenantId} and thing.id = shown.id`;

const emailOf = (column: string) => (tenantId: string) =>
  sql`
  select users.email from members join users on users.id = members.user_id
  where members.tenant_id = ${tenantId} and ${sql.ref(`members.${column}`)} = shown.id`;

const present: Record<NamedKind, Present> = {
  application: { permission: 'application:read', name: nameIn('applications') },
  // With its Application, because the index of keys begins with it.
  application_key: {
    permission: 'application:read',
    name: (tenantId) => sql`${nameIn('application_keys')(tenantId)} and thing.application_id = shown.application_id`,
  },
  proxy: { permission: 'proxy:read', name: nameIn('proxies') },
  reactor: { permission: 'reactor:read', name: nameIn('reactors') },
  reactor_formula: { permission: 'reactor:read', name: nameIn('reactor_formulas') },
  member: { permission: 'tenant:member:read', name: emailOf('id') },
  user: { permission: 'tenant:member:read', name: emailOf('user_id') },
};

interface Shown {
  id: string;
  kind: NamedKind;
  /** When the newest row that shows it was written. */
  at: string;
  application_id?: string;
}

/**
 * Names of what the rows show, by id: each as it was when the newest of these rows was written, or its last one if it was
 * gone by then. Without those that the caller may not read, and without things of which no name is known. One statement for
 * all rows, which looks up each id by an index.
 * @param logs newest first.
 */
export async function namesOf(
  db: Queryable,
  caller: Pick<Caller, 'tenantId' | 'permissions' | 'rules' | 'within'>,
  logs: readonly Log[],
): Promise<Record<string, string>> {
  const { tenantId } = caller;
  const shown = [...shownBy(logs).values()].filter(({ kind }) => holds(caller, present[kind].permission));
  const kinds = [...new Set(shown.map(({ kind }) => kind))];
  if (kinds.length === 0) return {};
  const formerNames = sql`former_names as former
    where former.tenant_id = ${tenantId} and former.kind = shown.kind and former.id = shown.id`;
  const ofKind = (kind: NamedKind) => sql`
    select id, coalesce(
      (select name from ${formerNames} and until > at order by until limit 1),
      (${present[kind].name(tenantId)}),
      (select name from ${formerNames} order by until desc limit 1)
    ) as name from shown where kind = ${kind}`;
  const { rows } = await sql<{ id: string; name: string | null }>`
    with shown as (
      select kind, id, at, application_id
      from jsonb_to_recordset(${JSON.stringify(shown)}::jsonb)
        as shown(kind text, id uuid, at timestamptz, application_id uuid)
    )
    ${sql.join(kinds.map(ofKind), sql` union all `)}
  `.execute(db);
  return Object.fromEntries(rows.flatMap(({ id, name }) => (name === null ? [] : [[id, name]])));
}

function shownBy(logs: readonly Log[]): Map<string, Shown> {
  const shown = new Map<string, Shown>();
  for (const { entity_type, entity_id, actor_type, actor_id, created_at: at, detail = {} } of logs) {
    const note = (kind: NamedKind | undefined, value: unknown) => {
      const id = typeof value === 'string' ? canonicalUuid(value) : undefined;
      if (kind === undefined || id === undefined || shown.has(id)) return;
      shown.set(id, { id, kind, at, ...(kind === 'application_key' && { application_id: entity_id }) });
    };
    note(kindOfEntity[entity_type], entity_id);
    if (actor_type === 'application' || actor_type === 'user') note(actor_type, actor_id);
    for (const [member, kind] of Object.entries(kindOfMember)) note(kind, detail[member]);
  }
  return shown;
}
