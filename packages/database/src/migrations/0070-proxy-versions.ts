import { type Kysely, sql } from 'kysely';

/**
 * Former states of Proxies; the present one is the Proxy itself. While the previous version runs, its changes to Proxies store no
 * former state. It also deletes Proxies without knowing this table, so a foreign key deletes their rows here.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `alter table proxies add column version integer not null default 1`,
  `alter table proxies add column changed_members text[] not null default '{}'`,
  `create table proxy_versions (
    tenant_id uuid not null,
    id uuid not null default gen_random_uuid(),
    proxy_id uuid not null,
    version integer not null,
    at timestamptz(3) not null,
    by_id uuid,
    changed_members text[] not null,
    definition_ciphertext bytea not null,
    primary key (tenant_id, id),
    unique (tenant_id, proxy_id, version),
    foreign key (tenant_id, proxy_id) references proxies (tenant_id, id) on delete cascade
  )`,
];
