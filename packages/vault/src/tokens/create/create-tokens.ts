import { type RecordedChange, tagOf } from '@sluice/cache-coherence';
import type { Queryable } from '@sluice/database';
import type { Vault } from '../../vault.ts';
import { freeExpiredIds } from '../expiry/expire-tokens.ts';
import { monthOf } from '../read/activity.ts';
import { countActive, noteActiveRows } from '../token.queries.ts';
import type { Actor } from '../token.ts';
import { findEqual } from './deduplicate.ts';
import { type Creation, type Draft, draftToken } from './draft-tokens.ts';
import { type InsertedToken, type Insertion, TakenIdError } from './insert-tokens.queries.ts';
import { type CreatedToken, presentCreated, type StoredDrafts } from './present-created.ts';

/** Shows data as a read would, or none without `token:read`. @throws {ServiceError} as `draftToken`, `createTokens`. */
export async function createToken(vault: Vault, actor: Actor, input: unknown): Promise<CreatedToken> {
  const [created] = await createTokens(await draftToken(vault, actor, input));
  if (!created) throw new Error('Nothing was created');
  return created;
}

/**
 * All or none, in order; resolves once no process can serve a former token with one of the ids. @throws {ServiceError}
 * `conflict` for a taken id, `unauthenticated` for a closed Tenant, `unavailable` as the barrier: the tokens are there.
 */
export async function createTokens(creation: Creation): Promise<CreatedToken[]> {
  const { vault, actor, drafts } = creation;
  if (drafts.length === 0) return [];
  await actor.checkAgain?.(); // the key service may have taken long
  if (!isDeduplicationAsked(drafts)) {
    const rows = drafts.map(({ row }) => row);
    const month = monthOf(vault.clock());
    const inserted = await overExpired(creation, () => vault.inserts.insert(actor, rows, month));
    if (inserted !== 'deduplicate') {
      const former = await findFormer(vault.db, creation);
      if (former) await vault.changes.barrier(former);
      return presentCreated(vault.db, creation, { inserted, equal: new Map() });
    }
  }
  return storeAnd(creation, storeDeduplicated, async (_tx, created) => created);
}

/** `createTokens` and then `also` in one transaction, which may begin anew. @throws what either of them throws. */
export async function createTokensAnd<T>(creation: Creation, also: Also<T>): Promise<T> {
  await creation.actor.checkAgain?.();
  return storeAnd(creation, storeNew, also);
}

type Also<T> = (tx: Queryable, created: CreatedToken[], former?: RecordedChange) => Promise<T>;

/** Shows equal tokens in the transaction too, so that nothing is created if one of them is deleted meanwhile. */
async function storeAnd<T>(
  creation: Creation,
  store: (tx: Queryable, creation: Creation) => Promise<StoredDrafts>,
  also: Also<T>,
): Promise<T> {
  const { vault } = creation;
  const { result, former } = await overExpired(creation, () =>
    vault.db.transaction().execute(async (tx) => {
      const now = vault.clock();
      // One moment for all, because a month may end between storing and showing.
      const dated = { ...creation, vault: { ...vault, clock: () => now } };
      const stored = await store(tx, dated);
      const former = await findFormer(tx, creation);
      const created = await presentCreated(tx, dated, stored);
      // Equal tokens that others created are shown after locks that may have taken long.
      if (stored.equal.size > 0) await creation.actor.checkAgain?.(tx);
      return { result: await also(tx, created, former), former };
    }),
  );
  if (former) await vault.changes.barrier(former);
  return result;
}

/** A process that has not heard of the end of a former token with a wanted id would serve that one. */
async function findFormer(db: Queryable, { vault, actor, drafts }: Creation): Promise<RecordedChange | undefined> {
  const ids = drafts.flatMap(({ input }) => input.id ?? []);
  if (ids.length === 0) return undefined;
  const tags = ids.map((id) => tagOf.token(actor.tenantId, id));
  return vault.changes.findUnconfirmed(db, actor.tenantId, tags);
}

async function storeNew(tx: Queryable, creation: Creation): Promise<StoredDrafts> {
  const { vault, drafts } = creation;
  if (!isDeduplicationAsked(drafts)) {
    const month = monthOf(vault.clock());
    const inserted = await insertDrafts(tx, creation, { drafts, month, deduplicated: false });
    if (inserted !== 'deduplicate') return { inserted, equal: new Map() };
  }
  return storeDeduplicated(tx, creation);
}

/** Every transaction of the vault locks in this order to avoid deadlocks: fingerprints, tokens by id, then counters. */
async function storeDeduplicated(tx: Queryable, creation: Creation): Promise<StoredDrafts> {
  const { vault, actor } = creation;
  const { fresh, equal } = await findEqual(tx, creation);
  const month = monthOf(vault.clock());
  const { added } = await noteActiveRows(tx, actor.tenantId, [...new Set(equal.values())], month);
  if (fresh.length === 0) {
    await countActive(tx, actor.tenantId, month, added);
    return { inserted: [], equal };
  }
  const inserted = await insertDrafts(tx, creation, { drafts: fresh, month, deduplicated: true, alsoActive: added });
  return { inserted: inserted === 'deduplicate' ? [] : inserted, equal };
}

const isDeduplicationAsked = (drafts: readonly Draft[]) => drafts.some(({ row }) => row.deduplicate === true);

/** Deletes expired tokens with a wanted id, in transactions of their own, because a deletion locks counters. */
async function overExpired<T>({ vault, actor, drafts }: Creation, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    const ids = drafts.flatMap(({ input }) => input.id ?? []);
    if (!(error instanceof TakenIdError) || ids.length === 0) throw error;
    await freeExpiredIds(vault.db, actor.tenantId, ids);
    return attempt();
  }
}

function insertDrafts(
  tx: Queryable,
  { vault, actor }: Creation,
  { drafts, ...how }: { drafts: readonly Draft[] } & Omit<Insertion, 'actor' | 'tokens'>,
): Promise<InsertedToken[] | 'deduplicate'> {
  const tokens = drafts.map(({ row }) => row);
  return vault.inserts.insertWith(tx, { actor, tokens, ...how });
}
