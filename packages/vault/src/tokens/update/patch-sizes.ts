import { decide } from '@sluice/access';
import { ServiceError } from '@sluice/problems';
import { isObject, type Json } from '../../json.ts';
import { type Judged, mebibyte } from '../create/read-token-input.ts';
import type { Actor, TokenRow } from '../token.ts';
import { isEmptyMerge } from './blind-merge.ts';
import type { TokenPatch } from './read-token-patch.ts';

/**
 * Bytes that callers who cannot see a member have written to it since one who can last wrote it. After a blind merge
 * into the data one byte stays until all data is replaced, because a merge keeps parts of what they wrote
 * (`blind-merge.ts`).
 */
export type BlindBytes = Pick<TokenRow, 'blind_data_bytes' | 'blind_metadata_bytes'>;

type Written = 'data' | 'metadata';

/** `data` needs a rule that reveals it; `metadata` any right to read. */
function sees(actor: Actor, token: TokenRow, member: Written): boolean {
  const transform = decide(actor, 'token:read', token);
  return member === 'data' ? transform === 'reveal' : transform !== undefined;
}

/**
 * Blind patches are limited by the sum of the bytes sent, because a limit on the result would reveal the size of the
 * rest.
 */
export function blindBytesAfter(actor: Actor, token: TokenRow, patch: TokenPatch): BlindBytes {
  return {
    blind_data_bytes: bytesAfter(actor, token, { patch, member: 'data' }),
    blind_metadata_bytes: bytesAfter(actor, token, { patch, member: 'metadata' }),
  };
}

function bytesAfter(actor: Actor, token: TokenRow, { patch, member }: { patch: TokenPatch; member: Written }): number {
  const before = token[`blind_${member}_bytes`];
  const sent = patch[member] as Json | undefined;
  if (sent === undefined || isEmptyMerge(sent)) return before;
  // A value that is not an object replaces everything there; a later merge replaces it completely.
  const isMerge = isObject(sent);
  if (sees(actor, token, member)) return isMerge && member === 'data' ? Math.min(before, 1) : 0;
  const after = (isMerge ? before : 0) + Buffer.byteLength(JSON.stringify(sent));
  if (after <= mebibyte) return isMerge ? after : 0;
  const detail = `${member}: keys that do not see it may patch at most 1 MiB into it in all, until a key that sees it writes it`;
  throw new ServiceError('payload_too_large', detail, { limit: 'data_size' });
}

/** Members without a size limit: those that the actor does not see, or that the patch does not change. */
export function unjudgedIn(actor: Actor, token: TokenRow, patch: TokenPatch): ReadonlySet<Judged> {
  const { data, metadata, mask, search_indexes, fingerprint_expression } = patch;
  const isTouched = [data, mask, search_indexes, fingerprint_expression].some((member) => member !== undefined);
  const unjudged = new Set<Judged>();
  if (data === undefined || !sees(actor, token, 'data')) unjudged.add('data');
  if (metadata === undefined || !sees(actor, token, 'metadata')) unjudged.add('metadata');
  if (!isTouched || !sees(actor, token, 'data')) unjudged.add('templates');
  return unjudged;
}
