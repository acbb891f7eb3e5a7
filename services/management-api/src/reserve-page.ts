import { type Queryable, textBytesOf } from '@sluice/database';
import type { Hold } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import type { Expression } from 'kysely';

const mostBytes = 8 * 1024 * 1024;
/** A page is in memory as rows, as the response, and as its text. */
export const copiesOfPage = 3;

/** For the descriptions of lists whose items may be large. */
export const pageLimit =
  'If a page would have more than 8 MiB, the response is 413: ask for fewer items with a smaller `size`.';

/**
 * Reserves memory for the rows of a page, before they are read.
 * @throws {ServiceError} 413 for more than 8 MiB, but never for a page of one item, which cannot be made smaller.
 */
export async function reservePage(
  db: Queryable,
  rows: Expression<unknown>,
  { hold, size }: { hold: Hold; size: number },
): Promise<void> {
  const bytes = await textBytesOf(db, rows);
  if (bytes > mostBytes && size > 1) {
    const detail = 'This page would have more than 8 MiB; ask for fewer items with a smaller `size`';
    throw new ServiceError('payload_too_large', detail, { limit: 'page_size' });
  }
  await hold(copiesOfPage * bytes);
}
