import { type RecordedChange, tagOf } from '@sluice/cache-coherence';
import { inRowTurns, type LockedRows, type Queryable } from '@sluice/database';
import type { Vault } from '../../vault.ts';
import { freeExpiredIds } from '../expiry/expire-tokens.ts';
import { monthOf } from '../read/activity.ts';
import { countActive, noteActiveRows } from '../token.queries.ts';
import type { Actor } from '../token.ts';
import { findEqual } from './deduplicate.ts';
import { type Creation, draftToken } from './draft-tokens.ts';
import { takesPart } from './equal-tokens.queries.ts';
import { type InsertedToken, TakenIdError } from './insert-tokens.queries.ts';
import { type CreatedToken, presentCreated, type StoredDrafts } from './present-created.ts';

/** Shows data as a read would, or none without `token:read`. @throws {ServiceError} as `draftToken`, `createTokens`. */
export async function createToken(vault: Vault, actor: Actor, input: unknown): Promise<CreatedToken> {
  return createTokens(await draftToken(vault, actor, input), { answerTo: theOnly });
}

export function theOnly([created]: readonly CreatedToken[]): CreatedToken {
  if (!created) throw new Error('Nothing was created');
  return created;
}

export interface Answering<T> {
  answerTo: (created: readonly CreatedToken[]) => T;
  /**
   * Stores the response in the transaction that creates the tokens, which may be repeated. If it rejects, no token is
   * created.
   */
  settle?: ((tx: Queryable, answer: T, former?: RecordedChange) => Promise<void>) | undefined;
}

/**
 * All or none, in order; resolves once no process can serve a former token with one of the ids. @throws {ServiceError}
 * `conflict` for a taken id, `unauthenticated` for a closed Tenant, `unavailable` from the barrier: the tokens then
 * exist.
 * @throws errors of `settle`.
 */
export async function createTokens<T>(creation: Creation, answering: Answering<T>): Promise<T> {
  if (creation.drafts.length === 0) return answering.answerTo([]);
  const { answer, former } = (await insertFresh(creation, answering)) ?? (await storeDeduplicated(creation, answering));
  if (former) await creation.vault.changes.barrier(former);
  return answer;
}

interface Made<T> {
  answer: T;
  /** The deletion of former tokens with these ids, if some process may still cache them. */
  former: RecordedChange | undefined;
}

/** Undefined if equal tokens must be searched for, which only Postgres knows if the Tenant's setting decides. */
async function insertFresh<T>(creation: Creation, answering: Answering<T>): Promise<Made<T> | undefined> {
  const { vault, actor, drafts } = creation;
  if (drafts.some(({ row }) => row.deduplicate === true && takesPart(row))) return undefined;
  let made: Made<T> | undefined;
  const answerFor = async (db: Queryable, inserted: readonly InsertedToken[]) => {
    made = await answerOf(db, creation, { inserted, equal: new Map() }, answering);
  };
  const rows = drafts.map(({ row }) => row);
  const month = monthOf(vault.clock());
  const also = answering.settle && answerFor;
  const inserted = await overExpired(creation, () => vault.inserts.insert({ actor, rows, month, also }));
  if (inserted === 'deduplicate') return undefined;
  if (!also) await answerFor(vault.db, inserted);
  return made;
}

/** Reads equal tokens in the transaction too, so that nothing is created if one of them is deleted before it ends. */
function storeDeduplicated<T>(creation: Creation, answering: Answering<T>): Promise<Made<T>> {
  const { vault, actor } = creation;
  return inRowTurns(vault.db, fingerprintsOf(creation), () => overExpired(creation, attempt));

  function attempt() {
    return vault.db.transaction().execute(async (tx) => {
      const now = vault.clock();
      // One time for all, because a month may end between storing and showing.
      const dated = { ...creation, vault: { ...vault, clock: () => now } };
      const made = await answerOf(tx, dated, await storeBesideEqual(tx, dated), answering);
      await actor.look?.(tx); // after everything that waits for locks
      return made;
    });
  }
}

async function answerOf<T>(
  db: Queryable,
  creation: Creation,
  stored: StoredDrafts,
  { answerTo, settle }: Answering<T>,
): Promise<Made<T>> {
  const former = await findFormer(db, creation);
  const answer = answerTo(await presentCreated(db, creation, stored));
  await settle?.(db, answer, former);
  return { answer, former };
}

/** Those that may be locked; only the transaction knows the Tenant's setting. */
function fingerprintsOf({ actor: { tenantId }, drafts }: Creation): LockedRows {
  const mayBeEqual = drafts.filter(({ row }) => row.deduplicate !== false && takesPart(row));
  return { tenantId, rows: mayBeEqual.flatMap(({ row }) => row.fingerprint ?? []) };
}

/** A process that has not yet dropped a former token with one of these ids would serve that one. */
async function findFormer(db: Queryable, { vault, actor, drafts }: Creation): Promise<RecordedChange | undefined> {
  const ids = drafts.flatMap(({ input }) => input.id ?? []);
  if (ids.length === 0) return undefined;
  const tags = ids.map((id) => tagOf.token(actor.tenantId, id));
  return vault.changes.findUnconfirmed(db, actor.tenantId, tags);
}

/**
 * To avoid deadlocks, every transaction of the vault locks in this order: fingerprints, tokens by id, counters, stored
 * responses.
 */
async function storeBesideEqual(tx: Queryable, creation: Creation): Promise<StoredDrafts> {
  const { vault, actor } = creation;
  const { fresh, equal } = await findEqual(tx, creation);
  const month = monthOf(vault.clock());
  const { added } = await noteActiveRows(tx, actor.tenantId, [...new Set(equal.values())], month);
  if (fresh.length === 0) {
    await countActive(tx, actor.tenantId, month, added);
    return { inserted: [], equal };
  }
  const tokens = fresh.map(({ row }) => row);
  const insertion = { actor, tokens, month, deduplicated: true, alsoActive: added };
  const inserted = await vault.inserts.insertWith(tx, insertion);
  return { inserted: inserted === 'deduplicate' ? [] : inserted, equal };
}

/** Deletes expired tokens with these ids, in separate transactions, because a deletion locks counters. */
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
