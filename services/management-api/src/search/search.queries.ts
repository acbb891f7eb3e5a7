import { notExpired } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { sql } from 'kysely';
import { inOrder } from '../list-order.ts';
import { containsPattern } from '../name-filter.ts';
import { emailOf } from '../people/e-mail-of.ts';

const mostOfAKind = 8;

export interface Found {
  id: string;
  /** Null for a member without an e-mail address. */
  name: string | null;
}

type NamedTable = 'applications' | 'proxies' | 'reactors' | 'reactor_formulas';

/** Ordered by name. Compares the names of the Tenant, as the filters of lists do. */
export function searchByName(
  db: Queryable,
  { tenantId, table, text }: { tenantId: string; table: NamedTable; text: string },
): Promise<Found[]> {
  const ids = idsThatBegin(text);
  return db
    .selectFrom(table)
    .select(['id', 'name'])
    .where('tenant_id', '=', tenantId)
    .where((eb) =>
      eb.or([
        sql<boolean>`lower(name) like lower(${containsPattern(text)})`,
        ...(ids ? [sql<boolean>`id between ${ids.first} and ${ids.last}`] : []),
      ]),
    )
    .$if(table === 'applications', (query) => query.where(notExpired))
    .$call(inOrder({ sort: 'name' }, table))
    .limit(mostOfAKind)
    .execute();
}

/** Ordered by e-mail address. Found by the id of the member or of the person. */
export function searchMembers(db: Queryable, { tenantId, text }: { tenantId: string; text: string }): Promise<Found[]> {
  const ids = idsThatBegin(text);
  const email = emailOf('members.user_id');
  return db
    .selectFrom('members')
    .select(['id', email.as('name')])
    .where('tenant_id', '=', tenantId)
    .where((eb) =>
      eb.or([
        eb(email, 'ilike', containsPattern(text)),
        ...(ids ? [sql<boolean>`id between ${ids.first} and ${ids.last}`] : []),
        ...(ids ? [sql<boolean>`user_id between ${ids.first} and ${ids.last}`] : []),
      ]),
    )
    .$call(inOrder({ sort: 'email' }, 'members', email))
    .limit(mostOfAKind)
    .execute();
}

const firstId = '00000000-0000-0000-0000-000000000000';
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const fewestDigits = 8;

/** The range of ids that begin with the text. Undefined for fewer than eight digits, because many words are hexadecimal. */
function idsThatBegin(text: string): { first: string; last: string } | undefined {
  if (text.length < fewestDigits || text.length > lastId.length) return undefined;
  const isBeginning = [...text].every((character, at) =>
    lastId[at] === '-' ? character === '-' : /[0-9a-f]/i.test(character),
  );
  return isBeginning ? { first: text + firstId.slice(text.length), last: text + lastId.slice(text.length) } : undefined;
}
