import { type Kysely, sql } from 'kysely';

/**
 * The previous version purges Tenants without knowing these tables, so their rows go with the Tenant's. Its gateways do not know
 * `sessions.reactors` either: a session that names reactors only is stored with an empty `proxies`, by which they refuse every
 * Proxy. Applications have no foreign key, because its locks could keep a revocation waiting.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const authorship = `
  created_by uuid,
  created_at timestamptz(3) not null default clock_timestamp(),
  modified_by uuid,
  modified_at timestamptz(3)`;

const statements = [
  `create table reactor_formulas (
    tenant_id uuid not null references tenants (id) on delete cascade,
    id uuid not null,
    name text not null,
    description text,
    icon text,
    code text not null,
    configuration jsonb not null default '[]',
    request_parameters jsonb not null default '[]',${authorship},
    primary key (tenant_id, id)
  )`,
  `create index reactor_formulas_newest on reactor_formulas (tenant_id, created_at desc, id desc)`,
  `create index reactor_formulas_name on reactor_formulas using gin (name gin_trgm_ops) with (fastupdate = off)`,

  `create table reactors (
    tenant_id uuid not null references tenants (id) on delete cascade,
    id uuid not null,
    name text not null,
    code text,
    formula_id uuid,
    application_id uuid,
    configuration_ciphertext bytea,
    retryable boolean not null default false,${authorship},
    primary key (tenant_id, id),
    check (num_nonnulls(code, formula_id) = 1),
    constraint reactors_formula foreign key (tenant_id, formula_id) references reactor_formulas (tenant_id, id)
  )`,
  `create index reactors_newest on reactors (tenant_id, created_at desc, id desc)`,
  `create index reactors_name on reactors using gin (name gin_trgm_ops) with (fastupdate = off)`,
  `create index reactors_of_formula on reactors (tenant_id, formula_id) where formula_id is not null`,

  `alter table sessions add column reactors uuid[]`,
];
