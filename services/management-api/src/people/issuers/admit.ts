import type { RecordedChange } from '@sluice/cache-coherence';
import { generateSecret, hashKey } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import type { Context } from '../../context.ts';
import { listTenantsOf } from '../sign-ins/sign-in.queries.ts';
import { followGroups } from './group-members.ts';
import type { Identity } from './issuer.ts';
import { findOrMakePerson, findPerson, insertPending, updatePerson } from './person.queries.ts';

export interface Admitted {
  /** Value of the cookie with which the browser finishes. */
  secret: string;
  /** Tenants that the person may enter. */
  tenants: { id: string; name: string }[];
}

interface Followed {
  userId?: string;
  change?: RecordedChange;
}

/**
 * Updates memberships from the issuer's answer, and stores the person for ten minutes, in which the browser may finish.
 * Signs nobody in. A person who is no member and in no group leaves no other row, because anybody may have an account
 * at a public issuer.
 */
export async function admit(
  { db, pepper, changes, issuers }: Pick<Context, 'db' | 'pepper' | 'changes' | 'issuers'>,
  identity: Identity,
  traceId: string,
): Promise<Admitted> {
  const secret = generateSecret();
  const { userId, change } = await db.transaction().execute(async (tx): Promise<Followed> => {
    await insertPending(tx, hashKey(pepper, secret), identity);
    const userId = await personOf(tx, identity);
    if (userId === undefined) return {};
    await updatePerson(tx, userId, identity);
    const decidedElsewhere = await tenantsOfOtherIssuers(tx, issuers, { userId, issuer: identity.issuer });
    const tags = await followGroups(tx, { userId, roles: identity.roles, decidedElsewhere, traceId });
    return { userId, ...(tags.size > 0 && { change: await changes.recordEach(tx, tags) }) };
  });
  if (change) await changes.barrier(change);
  const tenants = userId === undefined ? [] : await listTenantsOf(db, userId);
  return { secret, tenants };
}

/** A person may have identities at several issuers. Of Tenants that only another one maps, this one says nothing. */
async function tenantsOfOtherIssuers(
  tx: Queryable,
  issuers: Context['issuers'],
  { userId, issuer }: { userId: string; issuer: string },
): Promise<string[]> {
  const identities = await tx.selectFrom('identities').select('issuer').where('user_id', '=', userId).execute();
  const urls = new Set(identities.map((known) => new URL(known.issuer).href));
  const url = new URL(issuer).href;
  const all = [...issuers.values()].filter((one) => urls.has(one.url));
  const own = all.find((one) => one.url === url)?.tenantIds;
  const others = all.filter((one) => one.url !== url).flatMap(({ tenantIds }) => [...tenantIds]);
  return others.filter((tenantId) => !own?.has(tenantId));
}

async function personOf(tx: Queryable, identity: Identity): Promise<string | undefined> {
  if (identity.roles.size === 0) return findPerson(tx, identity);
  const open = await tx
    .selectFrom('tenants')
    .select('id')
    .where('id', 'in', [...identity.roles.keys()])
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  return open ? findOrMakePerson(tx, identity) : findPerson(tx, identity);
}
