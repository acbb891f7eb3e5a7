import type { Vault } from '../../vault.ts';
import { noteActivity } from '../token.queries.ts';
import type { Actor, TokenRow } from '../token.ts';

/** First day of the UTC month of a moment, for example `2026-02-01`. */
export function monthOf(moment: Date): string {
  return `${moment.getUTCFullYear()}-${String(moment.getUTCMonth() + 1).padStart(2, '0')}-01`;
}

/** Counts tokens as active in the current month. Done at once for those that were active in it before. */
export function touch(vault: Vault, tenantId: string, rows: readonly TokenRow[]): Promise<void> | undefined {
  const month = monthOf(vault.clock());
  const due = rows.filter((row) => row.active_month < month);
  return due.length === 0 ? undefined : note(vault, { tenantId, month, due });
}

interface Due {
  tenantId: string;
  month: string;
  due: readonly TokenRow[];
}

async function note(vault: Vault, { tenantId, month, due }: Due): Promise<void> {
  const ids = due.map((row) => row.id);
  const noted = await noteActivity(vault.db, tenantId, ids, month);
  // Where the row is cached, its next use need not ask.
  for (const row of due) if (noted.has(row.id)) row.active_month = month;
}

/** What the audit row of a session says of the Application that authorized it. */
export function onBehalfOf({ applicationId }: Pick<Actor, 'applicationId'>): { application_id?: string } {
  return applicationId === undefined ? {} : { application_id: applicationId };
}

/**
 * Notes in the disclosure log that a read gives plaintext away; call it before the answer.
 * @throws {ServiceError} `unavailable` where it cannot be noted.
 */
export async function discloseRead(vault: Vault, actor: Actor, tokenIds: readonly string[]): Promise<void> {
  const [first] = tokenIds;
  if (first === undefined) return;
  await vault.disclosures.record({
    tenantId: actor.tenantId,
    actorId: actor.id,
    actorType: actor.actorType ?? 'application',
    traceId: actor.traceId,
    operation: 'read',
    entityType: 'token',
    entityId: first,
    detail: { token_ids: tokenIds, ...onBehalfOf(actor) },
  });
}
