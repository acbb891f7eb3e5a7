import { nextVersion, type Queryable } from '@sluice/database';
import type { NewTokenRow } from '../token.queries.ts';
import { tokenColumns } from '../token.queries.ts';
import type { Actor, TokenRow } from '../token.ts';

/** Without `search_hashes` the stored ones stay. */
export type TokenChanges = Omit<
  NewTokenRow,
  'id' | 'type' | 'deduplicate' | 'trace_id' | 'log_id' | 'search_hashes'
> & { search_hashes?: string[]; blind_metadata_bytes: number };

/** The transaction must have locked the token. */
export async function updateTokenRow(
  tx: Queryable,
  actor: Pick<Actor, 'id' | 'tenantId'>,
  id: string,
  { mask, metadata, use, ...changes }: TokenChanges,
): Promise<TokenRow> {
  const row = await tx
    .updateTable('tokens')
    .set({
      ...changes,
      mask: mask === null ? null : JSON.stringify(mask),
      metadata: JSON.stringify(metadata),
      use: use && JSON.stringify(use),
      blind_data_bytes: 0, // the version before reads it
      modified_by: actor.id,
      modified_at: nextVersion({ now: 'statement_timestamp' }),
    })
    .where('tenant_id', '=', actor.tenantId)
    .where('id', '=', id)
    .returning(tokenColumns)
    .executeTakeFirstOrThrow();
  return row as TokenRow;
}
