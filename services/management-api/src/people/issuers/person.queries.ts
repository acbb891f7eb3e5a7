import type { Queryable } from '@sluice/database';
import { sql } from 'kysely';
import type { Identity } from './issuer.ts';

/** A person as described by the issuer, without Tenants. */
export type Person = Omit<Identity, 'roles'>;

export async function findPerson(db: Queryable, { issuer, subject }: Pick<Person, 'issuer' | 'subject'>) {
  const found = await db
    .selectFrom('identities')
    .select('user_id')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst();
  return found?.user_id;
}

/** Two concurrent sign-ins of a new person create one row. */
export async function findOrMakePerson(tx: Queryable, person: Person): Promise<string> {
  const { issuer, subject } = person;
  await sql`select pg_advisory_xact_lock(hashtextextended(${JSON.stringify([issuer, subject])}, 1))`.execute(tx);
  const known = await findPerson(tx, person);
  if (known !== undefined) return known;
  const { id } = await tx.insertInto('users').values(columnsOf(person)).returning('id').executeTakeFirstOrThrow();
  await tx.insertInto('identities').values({ issuer, subject, user_id: id }).execute();
  return id;
}

/** Returns false if the identity belongs to another person. */
export async function giveIdentity(tx: Queryable, userId: string, { issuer, subject }: Person): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('identities')
    .values({ issuer, subject, user_id: userId })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n || (await findPerson(tx, { issuer, subject })) === userId;
}

/** Stores the issuer's latest answer. An address that it no longer calls verified is removed. */
export async function updatePerson(tx: Queryable, userId: string, person: Person): Promise<void> {
  const now = columnsOf(person);
  await tx
    .updateTable('users')
    .set({ ...now, modified_at: sql<string>`clock_timestamp()` })
    .where('id', '=', userId)
    .where(
      sql<boolean>`(email, first_name, last_name, picture) is distinct from
        (${now.email}::text, ${now.first_name}::text, ${now.last_name}::text, ${now.picture}::text)`,
    )
    .execute();
}

function columnsOf({ email, firstName, lastName, picture }: Person) {
  return {
    email: email ?? null,
    first_name: firstName ?? null,
    last_name: lastName ?? null,
    picture: picture ?? null,
  };
}

const lifetime = sql<string>`clock_timestamp() + interval '10 minutes'`;

/** Also deletes expired rows, because nothing else looks for them. */
export async function insertPending(tx: Queryable, secretHash: Buffer, person: Person): Promise<void> {
  await sql`delete from pending_sign_ins where secret_hash in (
    select secret_hash from pending_sign_ins where expires_at < clock_timestamp()
    order by expires_at limit 100 for update skip locked)`.execute(tx);
  const { issuer, subject } = person;
  await tx
    .insertInto('pending_sign_ins')
    .values({ secret_hash: secretHash, issuer, subject, ...columnsOf(person), expires_at: lifetime })
    .execute();
}

/** Can be used once: of two concurrent calls the second waits and finds nothing. */
export async function takePending(tx: Queryable, secretHash: Buffer): Promise<Person | undefined> {
  const taken = await tx
    .deleteFrom('pending_sign_ins')
    .where('secret_hash', '=', secretHash)
    .where(sql<boolean>`expires_at > clock_timestamp()`)
    .returning(['issuer', 'subject', 'email', 'first_name', 'last_name', 'picture'])
    .executeTakeFirst();
  if (!taken) return undefined;
  const { issuer, subject, email, first_name: firstName, last_name: lastName, picture } = taken;
  return {
    ...{ issuer, subject },
    ...(email !== null && { email }),
    ...(firstName !== null && { firstName }),
    ...(lastName !== null && { lastName }),
    ...(picture !== null && { picture }),
  };
}
