import { sql } from 'kysely';

/**
 * The e-mail address of a person, looked up for each row that is compared. With a join, Postgres might compare the addresses of the
 * people of all Tenants first.
 */
export function emailOf(userId: 'members.user_id' | 'sign_ins.user_id') {
  return sql<string | null>`(select users.email from users where users.id = ${sql.ref(userId)})`;
}
