import { type Kysely, sql } from 'kysely';

/** A token that a row names twice is noted once. Two indexes find unsigned trees and checkpoints without a witness. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of [noting, closed, unsigned, unwitnessed]) await sql.raw(statement).execute(db);
}

const noting = `
create or replace function note_audit_rows() returns trigger language plpgsql security definer
set search_path from current as $$
begin
  insert into audit_log_arrivals (tenant_id, ids, times)
  select tenant_id, array_agg(id order by at, id), array_agg(at order by at, id) from inserted group by tenant_id;
  insert into audit_log_tokens (tenant_id, token_id, at, log_id)
  select tenant_id, entity_id, at, id from inserted where entity_type = 'token' and not coalesce(detail ? 'token_ids', false)
  union
  select tenant_id, jsonb_array_elements_text(detail -> 'token_ids'), at, id from inserted
  union
  select tenant_id, jsonb_array_elements(detail -> 'refused') ->> 'token_id', at, id from inserted;
  return null;
end $$`;

const closed = `
update ledgers set closed_at = now() where closed_at is null and not exists (select from tenants where id = tenant_id)`;

const unsigned = `create index ledgers_unsigned on ledgers (tenant_id) where checkpoint is null and size > 0`;

const unwitnessed = `
create index ledgers_unwitnessed on ledgers (tenant_id) where checkpoint is not null and size > witnessed_size`;
