import { randomUUID } from 'node:crypto';
import type { Database } from '@sluice/database';
import { sql } from 'kysely';
import { type ActorType, messageOf } from './log-entry.ts';

export interface Disclosure {
  tenantId: string;
  actorId: string | null;
  actorType: ActorType;
  traceId: string | null;
  operation: 'read' | 'use';
  entityType: 'token' | 'proxy' | 'reactor';
  entityId: string;
  /** Never contains a value. */
  detail: DisclosureDetail;
}

interface DisclosureDetail {
  token_ids: readonly string[];
  destination_host?: string;
  application_id?: string;
  method?: string;
  places?: readonly string[];
  path_name?: string;
  /** Hosts that a reactor's run called by `fetch`, in `calls` calls. */
  destination_hosts?: readonly string[];
  calls?: number;
  /** Tokens that were not revealed, because a member of their `use` forbids it. */
  refused?: readonly { token_id: string; member: string }[];
  /** How many values the response guard found in the response. The row is about that, and reveals nothing. */
  guard_hits?: number;
}

/** JSON text. The id is made here and not by Postgres, so that a row that is sent twice is stored once. */
export type RowText = string;

export function toRowText(disclosure: Disclosure): RowText {
  const { id, at } = idAndTime(Date.now());
  return JSON.stringify({
    id,
    at,
    tenant_id: disclosure.tenantId,
    actor_id: disclosure.actorId,
    actor_type: disclosure.actorType,
    trace_id: disclosure.traceId,
    operation: disclosure.operation,
    entity_type: disclosure.entityType,
    entity_id: disclosure.entityId,
    message: messageFor(disclosure),
    detail: disclosure.detail,
  });
}

function messageFor({ entityType, operation, detail: { refused, guard_hits: hits } }: Disclosure): string {
  if (hits) return `Response guard found ${hits === 1 ? 'a value' : `${hits} values`}`;
  if (!refused) return messageOf(entityType, operation);
  return refused.length === 1 ? 'Use of a token refused' : `Use of ${refused.length} tokens refused`;
}

export function idOf(row: RowText): string {
  return (JSON.parse(row) as { id: string }).id;
}

/** Cached, because many rows share a millisecond, and formatting a date takes longer than the rest of a row. */
let written = { ms: Number.NaN, at: '', uuid: '' };

/** A UUID of version 7 (RFC 9562) begins with the time, so concurrent rows are neighbours in the index. */
function idAndTime(ms: number): { id: string; at: string } {
  if (written.ms !== ms) {
    const time = ms.toString(16).padStart(12, '0');
    written = { ms, at: new Date(ms).toISOString(), uuid: `${time.slice(0, 8)}-${time.slice(8)}-7` };
  }
  return { id: written.uuid + randomUUID().slice(15), at: written.at };
}

/**
 * `lines` has a line break before each row. Existing rows stay; only a batch that contains some pays for the search.
 */
export async function insertRows(db: Database, lines: Buffer): Promise<void> {
  const json = `[${lines.toString('utf8', 1).replaceAll('\n', ',')}]`;
  try {
    await rowsInserted(json).execute(db);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === uniqueViolation)) throw error;
    await sql`${rowsInserted(json)} on conflict do nothing`.execute(db);
  }
}

const uniqueViolation = '23505';

/** Sorted, because the rows of one Tenant are neighbours in each index. */
const rowsInserted = (json: string) => sql`
  insert into audit_log
    (id, tenant_id, at, actor_id, actor_type, trace_id, operation, entity_type, entity_id, message, detail)
  select id, tenant_id, at, actor_id, actor_type, trace_id, operation, entity_type, entity_id, message, detail
  from jsonb_to_recordset(${json}::jsonb) as r(
    id uuid, tenant_id uuid, at timestamptz, actor_id uuid, actor_type text, trace_id text,
    operation text, entity_type text, entity_id text, message text, detail jsonb)
  order by tenant_id, at, id
`;
