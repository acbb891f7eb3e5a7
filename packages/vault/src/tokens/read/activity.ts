import type { AtOnceOrLater } from '@sluice/cache-coherence';
import { asTenant } from '@sluice/database';
import type { Vault } from '../../vault.ts';
import { findPlaces, noteActivity } from '../token.queries.ts';
import type { TokenRow } from '../token.ts';

/** `2026-02-01` */
export function monthOf(moment: Date): string {
  return `${moment.getUTCFullYear()}-${String(moment.getUTCMonth() + 1).padStart(2, '0')}-01`;
}

type Active = Pick<TokenRow, 'id' | 'active_month' | 'created_at'>;

const none: ReadonlySet<string> = new Set();

/**
 * Makes no query if all tokens are already counted for this month. Otherwise it waits for concurrent deletions.
 * @returns the ids of tokens that no longer exist, which must not be shown.
 */
export function touch(vault: Vault, tenantId: string, rows: readonly Active[]): AtOnceOrLater<ReadonlySet<string>> {
  const month = monthOf(vault.clock());
  const due = rows.filter((row) => row.active_month < month);
  return due.length === 0 ? none : asTenant(tenantId, () => note(vault, { tenantId, month, due }));
}

interface Due {
  tenantId: string;
  month: string;
  due: readonly Active[];
}

async function note(vault: Vault, { tenantId, month, due }: Due): Promise<ReadonlySet<string>> {
  const ids = due.map((row) => row.id);
  const noted = await noteActivity(vault.db, tenantId, ids, month);
  // The row may be cached, and then its next use needs no query.
  for (const row of due) if (noted.has(row.id)) row.active_month = month;
  const missing = due.filter(({ id }) => !noted.has(id));
  return missing.length === 0 ? none : findGone(vault, tenantId, missing);
}

/** Finds which tokens no longer exist. A token that was not updated may exist: another use may have noted the month first. */
async function findGone(vault: Vault, tenantId: string, rows: readonly Active[]): Promise<ReadonlySet<string>> {
  const ids = rows.map(({ id }) => id);
  const places = new Map((await findPlaces(vault.db, tenantId, ids)).map((place) => [place.id, place]));
  const gone = rows.filter(({ id, created_at }) => places.get(id)?.created_at !== created_at);
  return new Set(gone.map(({ id }) => id));
}
