import { type Kysely, sql } from 'kysely';

/**
 * Lists, searches and access rules find a token by hashes of Tenant, kind and value, so that no search reads entries of
 * another Tenant. A container adds a term for itself and for each around it, except the root. The array is generated,
 * so that tokens of the previous version are found, and stored, because computing it for a million rows takes ten
 * seconds. Adding it rewrites the table, which for a million tokens cannot be read for half a minute. The function
 * calls none of ours, because Postgres analyses and restores tables with a search path without them. The pending list
 * is short, because each search reads it.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create function token_term(tenant_id uuid, kind text, value text) returns bigint
    language sql immutable parallel safe
    return hashtextextended(tenant_id::text || '/' || kind || '=' || value, 0)`,

  `create function token_terms(
      tenant_id uuid, type text, containers text[], metadata jsonb, search_hashes text[],
      created_by uuid, modified_by uuid
    ) returns bigint[] language plpgsql immutable parallel safe cost 200 as $$
    declare
      owner text := tenant_id::text || '/';
      terms bigint[] := array[hashtextextended(owner || 'type=' || type, 0)];
      container text;
      segment text;
      path text;
      entry record;
    begin
      if created_by is not null then
        terms := terms || hashtextextended(owner || 'created_by=' || created_by, 0);
      end if;
      if modified_by is not null then
        terms := terms || hashtextextended(owner || 'modified_by=' || modified_by, 0);
      end if;
      foreach container in array containers loop
        path := owner || 'container=/';
        foreach segment in array string_to_array(btrim(container, '/'), '/') loop
          path := path || segment || '/';
          terms := terms || hashtextextended(path, 0);
        end loop;
      end loop;
      if metadata <> '{}'::jsonb then
        for entry in select key, value from jsonb_each_text(metadata) loop
          terms := terms || hashtextextended(owner || 'metadata.' || entry.key || '=' || entry.value, 0);
        end loop;
      end if;
      for i in 1 .. cardinality(search_hashes) loop
        terms := terms || hashtextextended(owner || 'data=' || search_hashes[i], 0);
      end loop;
      return terms;
    end $$`,

  `alter table tokens
    add column search_hashes text[] not null default '{}',
    add column cvc_ciphertext bytea,
    add column cvc_due_at timestamptz(3)`,
  `alter table tokens add column search_terms bigint[] not null generated always as (
      token_terms(tenant_id, type, containers, metadata, search_hashes, created_by, modified_by)
    ) stored`,
  `create index tokens_cvc_due on tokens (cvc_due_at) where cvc_due_at is not null`,
  `create index tokens_modified on tokens (tenant_id, modified_at) where modified_at is not null`,
  `create index tokens_search_terms on tokens using gin (search_terms)
    with (fastupdate = on, gin_pending_list_limit = 256)`,
];
