import type { Log } from '@sluice/sdk';

export interface RefusedUse {
  tokenId: string;
  /** Of the token's `use`. */
  member: string;
}

/** The tokens that were not revealed, because a member of their `use` forbade it. */
export function refusedUsesOf(detail: Log['detail'] | undefined): readonly RefusedUse[] {
  if (!Array.isArray(detail?.refused)) return [];
  return detail.refused.flatMap((entry: unknown) =>
    isRefusal(entry) ? [{ tokenId: entry.token_id, member: entry.member }] : [],
  );
}

function isRefusal(entry: unknown): entry is { token_id: string; member: string } {
  if (typeof entry !== 'object' || entry === null) return false;
  const { token_id: id, member } = entry as Record<string, unknown>;
  return typeof id === 'string' && typeof member === 'string';
}
