import { asTenant } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import type { Vault } from '../../vault.ts';
import { type DecryptionBudget, partOf } from '../decryption-budget.ts';
import { type FoundToken, findTokenRows, isLarge, type LargeToken } from '../token.queries.ts';
import type { TokenRow } from '../token.ts';
import { bytesAtOnce, copiesRead } from './token-list.queries.ts';

/** First small tokens, then large ones, read in groups of about 1 MiB; without those that the budget does not cover. */
export async function* wholeInGroups<T extends FoundToken>(
  vault: Vault,
  tenantId: string,
  found: readonly T[],
  { budget, bytesOf = ({ data_bytes }) => data_bytes }: WholeOptions,
): AsyncGenerator<TokenRow[], void, undefined> {
  const small = found.filter((token): token is T & TokenRow => !isLarge(token));
  yield* inGroups(small);
  let group: LargeToken[] = [];
  let groupBytes = 0;
  const memory = partOf(budget);
  for (const token of found) {
    if (!isLarge(token)) continue;
    const plannedBytes = group.reduce((sum, planned) => sum + bytesOf(planned), 0);
    if (bytesOf(token) > budget.leftBytes - plannedBytes) continue;
    if (group.length > 0 && groupBytes + token.size_bytes > bytesAtOnce) {
      yield await readWhole(vault, tenantId, group, memory);
      memory.giveBack();
      group = [];
      groupBytes = 0;
    }
    group.push(token);
    groupBytes += token.size_bytes;
  }
  if (group.length > 0) yield await readWhole(vault, tenantId, group, memory);
}

function* inGroups(rows: readonly TokenRow[]): Generator<TokenRow[], void, undefined> {
  let group: TokenRow[] = [];
  let groupBytes = 0;
  for (const row of rows) {
    group.push(row);
    groupBytes += row.data_ciphertext.length;
    if (groupBytes < bytesAtOnce) continue;
    yield group;
    group = [];
    groupBytes = 0;
  }
  if (group.length > 0) yield group;
}

interface WholeOptions {
  budget: DecryptionBudget;
  bytesOf?: (token: LargeToken) => number;
}

export async function readWhole(
  vault: Vault,
  tenantId: string,
  tokens: readonly LargeToken[],
  budget: Pick<DecryptionBudget, 'hold'> = {},
): Promise<TokenRow[]> {
  const bytes = tokens.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  await budget.hold?.(copiesRead * bytes);
  await vault.workPieces.turn(tenantId);
  const ids = tokens.map(({ id }) => id);
  const rows = new Map(
    (await asTenant(tenantId, () => findTokenRows(vault.db, tenantId, ids))).map((row) => [row.id, row]),
  );
  return tokens.map(({ id, created_at, modified_at }) => {
    const row = rows.get(id);
    if (row && row.created_at === created_at && row.modified_at === modified_at) return row;
    const detail = 'A token was changed or deleted while it was being read; try again';
    throw new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
  });
}
