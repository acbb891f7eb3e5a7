import type { Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import type { Vault } from '../../vault.ts';
import { freeExpiredIds } from '../expiry/expire-tokens.ts';
import { monthOf } from '../read/activity.ts';
import type { Actor } from '../token.ts';
import { findEqual } from './deduplicate.ts';
import { type Creation, type Draft, draftToken } from './draft-tokens.ts';
import type { InsertedToken } from './insert-tokens.queries.ts';
import { type CreatedToken, presentCreated, type StoredDrafts } from './present-created.ts';

/**
 * Creates a token from JSON of the form of `tokenInputSchema`, which it checks. The answer shows the data as a read by
 * the same actor would; without `token:read` it shows none.
 * @throws {ServiceError} as `draftToken` and `createTokens` do.
 */
export async function createToken(vault: Vault, actor: Actor, input: unknown): Promise<CreatedToken> {
  const [created] = await createTokens(await draftToken(vault, actor, input));
  if (!created) throw new Error('Nothing was created');
  return created;
}

/**
 * Stores all of the tokens or none, and returns them in their order. Where nothing is deduplicated, concurrent
 * creations of one Application share a transaction.
 * @throws {ServiceError} `conflict` where an id is taken, `unauthenticated` where the Tenant is closed.
 */
export async function createTokens(creation: Creation): Promise<CreatedToken[]> {
  const { vault, drafts } = creation;
  if (drafts.length === 0) return [];
  const inserted = isDeduplicationAsked(drafts) ? 'deduplicate' : await insertOverExpired(creation);
  const stored =
    inserted === 'deduplicate'
      ? await vault.db.transaction().execute((tx) => store(tx, creation))
      : { inserted, equal: new Map() };
  return presentCreated(vault.db, creation, stored);
}

/**
 * As `createTokens`, within the caller's transaction and together with what else it writes.
 * @throws {ServiceError} as `createTokens` does; the transaction must then be rolled back.
 */
export async function createTokensWith(tx: Queryable, creation: Creation): Promise<CreatedToken[]> {
  return presentCreated(tx, creation, await store(tx, creation));
}

async function store(tx: Queryable, creation: Creation): Promise<StoredDrafts> {
  const { actor, drafts } = creation;
  await freeExpiredIds(tx, actor.tenantId, ownIdsOf(drafts));
  if (!isDeduplicationAsked(drafts)) {
    const inserted = await insertDrafts(tx, creation, { drafts, deduplicated: false });
    if (inserted !== 'deduplicate') return { inserted, equal: new Map() };
  }
  const { fresh, equal } = await findEqual(tx, creation);
  const inserted = fresh.length > 0 ? await insertDrafts(tx, creation, { drafts: fresh, deduplicated: true }) : [];
  return { inserted: inserted === 'deduplicate' ? [] : inserted, equal };
}

const isDeduplicationAsked = (drafts: readonly Draft[]) => drafts.some(({ row }) => row.deduplicate === true);

const ownIdsOf = (drafts: readonly Draft[]) => drafts.flatMap(({ input }) => input.id ?? []);

/** Retries after deleting expired tokens, because an id is free as soon as its token expires. */
async function insertOverExpired({ vault, actor, drafts }: Creation): Promise<InsertedToken[] | 'deduplicate'> {
  const rows = drafts.map(({ row }) => row);
  const insert = () => vault.inserts.insert(actor, rows, monthOf(vault.clock()));
  try {
    return await insert();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'conflict') throw error;
    await vault.db.transaction().execute((tx) => freeExpiredIds(tx, actor.tenantId, ownIdsOf(drafts)));
    return insert();
  }
}

function insertDrafts(
  tx: Queryable,
  { vault, actor }: Creation,
  { drafts, deduplicated }: { drafts: readonly Draft[]; deduplicated: boolean },
): Promise<InsertedToken[] | 'deduplicate'> {
  const tokens = drafts.map(({ row }) => row);
  return vault.inserts.insertWith(tx, { actor, tokens, month: monthOf(vault.clock()), deduplicated });
}
