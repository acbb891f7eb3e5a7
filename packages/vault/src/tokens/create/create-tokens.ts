import { randomUUID } from 'node:crypto';
import { decide, isGrantedOnEach } from '@sluice/access';
import type { Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { type FilterBudget, newFilterBudget } from '../../expressions/filter-budget.ts';
import type { Vault } from '../../vault.ts';
import { cvcLifetimeMs } from '../expiry/cvc.ts';
import { freeExpiredIds } from '../expiry/expire-tokens.ts';
import { monthOf } from '../read/activity.ts';
import { presentWithoutData, visibleData } from '../read/present-token.ts';
import { notGranted } from '../require-permission.ts';
import type { Actor, Token } from '../token.ts';
import { type Draft, insertWhatIsNew, type Placed } from './deduplicate.ts';
import { type InsertedToken, type InsertOutcome, insertTokens } from './insert-tokens.queries.ts';
import { presentEqualTokens } from './present-equal-tokens.ts';
import type { TokenInput } from './read-token-input.ts';
import { openSeal } from './seal-token.ts';

/** A token, and whether it is new or an equal one that was there before. */
export interface CreatedToken {
  token: Token;
  created: boolean;
}

/** What else belongs into the transaction that creates tokens. */
export type AlsoInTransaction<T> = (tx: Queryable, created: T) => Promise<void>;

/**
 * Stores tokens, all or none, in one transaction; in one statement where nothing is deduplicated and nothing else belongs
 * to it. In their order.
 */
export async function createTokens(
  vault: Vault,
  actor: Actor,
  inputs: readonly TokenInput[],
  also?: AlsoInTransaction<CreatedToken[]>,
): Promise<CreatedToken[]> {
  const identified = inputs.map((input) => ({ ...input, id: input.id ?? randomUUID() }));
  const refused = identified.filter((input) => !isGrantedOnEach(actor, 'token:create', input));
  if (refused.length > 0) throw containersRefused(refused);
  const drafts = await draft(vault, actor, identified);
  const presentAll = async (placed: readonly Placed[]) => {
    const existing = placed.flatMap((one) => ('existing' in one ? [one.existing] : []));
    const equal = await presentEqualTokens(vault, actor, existing);
    const budget = newFilterBudget();
    return drafts.map((one, i) => present(one, placed[i], { actor, equal, budget }));
  };
  if (!also) return presentAll(await placeOverExpired(vault, actor, drafts));
  let created: CreatedToken[] = [];
  await placeOverExpired(vault, actor, drafts, async (tx, placed) => {
    created = await presentAll(placed);
    await also(tx, created);
  });
  return created;
}

/** Encrypts each token and computes its hashes; nothing is stored yet. */
async function draft(
  vault: Vault,
  { tenantId, traceId }: Actor,
  inputs: readonly (TokenInput & { id: string })[],
): Promise<Draft[]> {
  const seal = await openSeal(vault, tenantId, inputs);
  const logId = randomUUID();
  const cvcDueAt = new Date(vault.clock().getTime() + cvcLifetimeMs);
  return inputs.map((input) => {
    const { id } = input;
    return {
      input,
      row: {
        id,
        type: input.type,
        ...seal(input, { tenantId, id, cvcDueAt }),
        mask: input.mask,
        containers: input.containers,
        metadata: input.metadata,
        search_indexes: input.searchIndexes,
        fingerprint_expression: input.fingerprintExpression ?? null,
        deduplicate: input.deduplicate ?? null,
        expires_at: input.expiresAt ?? null,
        trace_id: traceId,
        log_id: logId,
      },
    };
  });
}

/** An id is free from the moment at which its token expires, whether or not the worker has been there. */
async function placeOverExpired(
  vault: Vault,
  actor: Actor,
  drafts: readonly Draft[],
  also?: AlsoInTransaction<Placed[]>,
): Promise<Placed[]> {
  try {
    return await place(vault, actor, drafts, also);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'conflict') throw error;
    const ids = drafts.flatMap(({ input }) => input.id ?? []);
    if (!(await freeExpiredIds(vault.db, actor.tenantId, ids))) throw error;
    return place(vault, actor, drafts, also);
  }
}

async function place(
  vault: Vault,
  actor: Actor,
  drafts: readonly Draft[],
  also?: AlsoInTransaction<Placed[]>,
): Promise<Placed[]> {
  const month = monthOf(vault.clock());
  const asked = drafts.some(({ input }) => input.deduplicate === true);
  if (!asked && !also) {
    const outcome = await vault.inserts.insert(actor, rowsOf(drafts), month);
    if (outcome !== 'deduplicate') return matchInserted(drafts, outcome);
  }
  const insert = async (tx: Queryable, some: readonly Draft[], deduplicated: boolean): Promise<InsertOutcome> =>
    some.length === 0 ? [] : insertTokens(tx, actor, rowsOf(some), { month, deduplicated });
  return vault.db.transaction().execute(async (tx) => {
    const outcome = asked ? 'deduplicate' : await insert(tx, drafts, false);
    const insertFresh = async (fresh: readonly Draft[]) => matchInserted(fresh, await insert(tx, fresh, true));
    const placed =
      outcome === 'deduplicate'
        ? await insertWhatIsNew(tx, actor.tenantId, drafts, insertFresh)
        : matchInserted(drafts, outcome);
    await also?.(tx, placed);
    return placed;
  });
}

const rowsOf = (drafts: readonly Draft[]) => drafts.map(({ row }) => row);

function matchInserted(drafts: readonly Draft[], outcome: InsertOutcome): Placed[] {
  if (outcome === 'tenant_closed') throw new ServiceError('unauthenticated', 'The Tenant of this key is closed');
  const byId = new Map<string, InsertedToken>();
  for (const inserted of outcome === 'deduplicate' ? [] : outcome) byId.set(inserted.id, inserted);
  return drafts.map(({ row }) => {
    const inserted = byId.get(row.id);
    if (!inserted) throw new Error(`Token ${row.id} was not inserted`);
    return { inserted };
  });
}

function present(
  { input, row }: Draft,
  placed: Placed | undefined,
  { actor, equal, budget }: { actor: Actor; equal: ReadonlyMap<string, Token>; budget: FilterBudget },
): CreatedToken {
  if (placed && 'inserted' in placed) {
    const transform = decide(actor, 'token:read', row) ?? 'redact';
    const data = visibleData(transform, input, budget);
    const token = presentWithoutData({
      ...row,
      ...placed.inserted,
      tenant_id: actor.tenantId,
      created_by: actor.id,
      modified_by: null,
      modified_at: null,
    });
    return { token: { ...token, ...(data !== undefined && { data }) }, created: true };
  }
  const token = placed && equal.get(placed.existing.id);
  if (!token) throw new ServiceError('conflict', 'The equal token was deleted meanwhile; try again');
  return { token, created: false };
}

function containersRefused(inputs: readonly TokenInput[]): ServiceError {
  return notGranted('token:create', [...new Set(inputs.flatMap((input) => input.containers))]);
}
