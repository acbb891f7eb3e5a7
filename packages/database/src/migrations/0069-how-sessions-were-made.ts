import { type Kysely, sql } from 'kysely';

/** `made_by_fields`: the hosted fields' own page made it. `fields`: it was authorized as one of theirs. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `alter table sessions
    add column made_by_fields boolean not null default false,
    add column fields boolean not null default false`,
];
