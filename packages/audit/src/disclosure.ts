import { randomUUID } from 'node:crypto';
import type { Database } from '@sluice/database';
import { sql } from 'kysely';
import { type ActorType, messageOf } from './log-entry.ts';

/** One invocation or read that gave plaintext away. */
export interface Disclosure {
  tenantId: string;
  actorId: string | null;
  actorType: ActorType;
  traceId: string | null;
  operation: 'read' | 'use';
  entityType: 'token' | 'proxy' | 'reactor';
  entityId: string;
  /** Never a value. */
  detail: DisclosureDetail;
}

interface DisclosureDetail {
  token_ids: readonly string[];
  destination_host?: string;
  application_id?: string;
  method?: string;
  /** Where in the request the tokens stood. */
  places?: readonly string[];
  path_name?: string;
  /** Tokens that were not revealed because a member of their `use` forbids it. */
  refused?: readonly { token_id: string; member: string }[];
  /** How many values the response guard found. */
  guard_hits?: number;
}

/**
 * Its row in the audit log as JSON text, which is all that is kept of it: its bytes are spooled, wait, and are inserted.
 * It has an id of its own, not one by Postgres, so that a row that is sent twice is there once.
 */
export type RowText = string;

export function toRowText(disclosure: Disclosure): RowText {
  const { id, at } = newRow(Date.now());
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
    message: messageOf(disclosure.entityType, disclosure.operation),
    detail: disclosure.detail,
  });
}

export function idOf(row: RowText): string {
  return (JSON.parse(row) as { id: string }).id;
}

/** Many rows are of the same millisecond, and to write a date takes longer than the rest of a row. */
let written = { ms: Number.NaN, at: '', uuid: '' };

/** A UUID of version 7 (RFC 9562), which begins with the time: rows that come together are together in the index. */
function newRow(ms: number): { id: string; at: string } {
  if (written.ms !== ms) {
    const time = ms.toString(16).padStart(12, '0');
    written = { ms, at: new Date(ms).toISOString(), uuid: `${time.slice(0, 8)}-${time.slice(8)}-7` };
  }
  return { id: written.uuid + randomUUID().slice(15), at: written.at };
}

/**
 * One statement and one parameter, however many rows. Those that are there already stay as they are.
 * @param lines each a line break and a row; no JSON of ours has a line break in it.
 */
export async function insertRows(db: Database, lines: Buffer): Promise<void> {
  const json = `[${lines.toString('utf8', 1).replaceAll('\n', ',')}]`;
  await sql`
    insert into audit_log
      (id, tenant_id, at, actor_id, actor_type, trace_id, operation, entity_type, entity_id, message, detail)
    select id, tenant_id, at, actor_id, actor_type, trace_id, operation, entity_type, entity_id, message, detail
    from jsonb_to_recordset(${json}::jsonb) as r(
      id uuid, tenant_id uuid, at timestamptz, actor_id uuid, actor_type text, trace_id text,
      operation text, entity_type text, entity_id text, message text, detail jsonb)
    on conflict do nothing
  `.execute(db);
}
