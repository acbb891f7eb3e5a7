import { randomUUID } from 'node:crypto';
import { isGrantedOnEach } from '@sluice/access';
import { filterBudget } from '../../expressions/filter-budget.ts';
import type { Vault } from '../../vault.ts';
import { cvcLifetimeMs } from '../expiry/cvc.ts';
import { notGranted, requirePermission } from '../require-permission.ts';
import type { NewTokenRow } from '../token.queries.ts';
import type { Actor } from '../token.ts';
import { hasManyMembers, readTokenInput, type TokenInput } from './read-token-input.ts';
import { prepareSeal } from './seal-token.ts';

/** Tokens that are read or encrypted before other work may run: about a millisecond. */
export const tokensOfPiece = 50;

export interface Draft {
  input: TokenInput;
  row: NewTokenRow;
}

export interface Creation {
  vault: Vault;
  actor: Actor;
  drafts: readonly Draft[];
}

/** @throws {ServiceError} `validation_failed`, `payload_too_large`, and as {@link draftTokens}. */
export async function draftToken(vault: Vault, actor: Actor, input: unknown): Promise<Creation> {
  requirePermission(actor, 'token:create');
  // Parsing, reading and storing many members takes tens of milliseconds each, so other work may run in between.
  const turn = hasManyMembers(input) ? () => vault.workPieces.turn(actor.tenantId) : undefined;
  await turn?.();
  const read = readTokenInput(input, '', { now: vault.clock(), budget: filterBudget() });
  await turn?.();
  return draftTokens(vault, actor, [read]);
}

export async function draftTokens(vault: Vault, actor: Actor, inputs: readonly TokenInput[]): Promise<Creation> {
  if (inputs.length === 0) return { vault, actor, drafts: [] };
  const identified = inputs.map((input) => ({ input, id: input.id ?? randomUUID() }));
  const refused: typeof identified = [];
  for (const [i, draft] of identified.entries()) {
    if (i > 0 && i % tokensOfPiece === 0) await vault.workPieces.turn(actor.tenantId);
    if (!isGrantedOnEach(actor, 'token:create', { ...draft.input, id: draft.id })) refused.push(draft);
  }
  if (refused.length > 0) {
    throw notGranted('token:create', [...new Set(refused.flatMap(({ input }) => input.containers))]);
  }
  const { tenantId, traceId } = actor;
  const seal = await prepareSeal(vault, tenantId, inputs);
  const logId = randomUUID();
  const cvcDueAt = new Date(vault.clock().getTime() + cvcLifetimeMs);
  const drafts: Draft[] = [];
  for (const { input, id } of identified) {
    if (drafts.length > 0 && drafts.length % tokensOfPiece === 0) await vault.workPieces.turn(tenantId);
    const row = {
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
      use: input.use,
      trace_id: traceId,
      log_id: logId,
    };
    drafts.push({ input, row });
  }
  return { vault, actor, drafts };
}
