import { type Kysely, sql } from 'kysely';

/**
 * The previous version writes none of this, and a Proxy that it changes keeps it. It would ignore it in an invocation, so
 * the management API sets what restricts only while no process of that version has a lease.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `alter table proxies
    add column token_places text[],
    add column request_headers_ciphertext bytea,
    add column head_timeout_s integer`,
];
