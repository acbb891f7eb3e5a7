import { asTenant } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import type { Vault } from '../../vault.ts';
import { countUses } from './count-uses.queries.ts';
import { type BoundToken, UseRefused } from './purpose.ts';
import type { CountedUses } from './token-use.ts';

const none: readonly string[] = [];

/** The tokens whose uses are limited. */
export function limitedOf(tokens: readonly BoundToken[]): readonly string[] {
  if (!tokens.some(isLimited)) return none;
  return tokens.filter(isLimited).map(({ id }) => id);
}

const isLimited = ({ use }: BoundToken) => use?.max_uses !== undefined;

/**
 * Counts a use of each of these tokens that the invocation has not counted yet, and waits for those that it is counting.
 * Call it after all other checks and before the disclosure is recorded. Undefined, without a query, if there is none.
 * @throws {UseRefused} if one has no use left; then none is counted. @throws {ServiceError} `unavailable` if one is gone.
 */
export function spendUses(
  vault: Pick<Vault, 'db'>,
  tenantId: string,
  limited: readonly string[],
  counted: CountedUses,
): Promise<unknown> | undefined {
  if (limited.length === 0) return undefined;
  const ids = new Set(limited);
  const due = [...ids].filter((id) => !counted.has(id));
  if (due.length > 0) {
    const spending = spend(vault, tenantId, due, counted);
    for (const id of due) counted.set(id, spending);
  }
  return Promise.all([...ids].map((id) => counted.get(id)));
}

async function spend(
  { db }: Pick<Vault, 'db'>,
  tenantId: string,
  due: readonly string[],
  counted: CountedUses,
): Promise<void> {
  try {
    const rows = await asTenant(tenantId, () => countUses(db, tenantId, due));
    const spent = rows.filter(({ is_spent }) => is_spent);
    if (spent.length > 0) throw new UseRefused(spent.map(({ id }) => ({ token_id: id, member: 'max_uses' })));
    if (rows.length === due.length) return;
  } catch (error) {
    for (const id of due) counted.delete(id);
    throw error;
  }
  // Those that were found are counted
  const detail = 'A token was deleted during this request; try again';
  throw new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
}
