import type { Vault } from '../vault.ts';
import { noteActivity } from './token.queries.ts';
import type { TokenRow } from './token.ts';

/** First day of the UTC month of a moment, for example `2026-02-01`. */
export function monthOf(moment: Date): string {
  return `${moment.toISOString().slice(0, 7)}-01`;
}

/** Counts tokens as active in the current month. Costs nothing for those that were active in it before. */
export async function touch(vault: Vault, tenantId: string, rows: readonly TokenRow[]): Promise<void> {
  const month = monthOf(vault.clock());
  const due = rows.filter((row) => row.active_month < month).map((row) => row.id);
  if (due.length > 0) await noteActivity(vault.db, tenantId, due, month);
}
