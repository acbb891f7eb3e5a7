import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table pending_sign_ins (
    secret_hash bytea primary key,
    issuer text not null,
    subject text not null,
    email text,
    first_name text,
    last_name text,
    picture text,
    expires_at timestamptz(3) not null
  )`,
  `create index pending_sign_ins_expiry on pending_sign_ins (expires_at)`,
];
