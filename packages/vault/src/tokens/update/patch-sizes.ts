import { decide } from '@sluice/access';
import { ServiceError } from '@sluice/problems';
import { isObject } from '../../json.ts';
import { mebibyte } from '../create/read-token-input.ts';
import type { Actor, TokenRow } from '../token.ts';
import type { TokenPatch } from './read-token-patch.ts';

export function isEmptyMerge(member: unknown): boolean {
  return isObject(member) && Object.keys(member).length === 0;
}

export function seesMetadata(actor: Actor, token: TokenRow): boolean {
  return decide(actor, 'token:read', token) !== undefined;
}

/**
 * Bytes that callers without `token:read` have merged into the metadata since one with it last wrote it. Their sum is
 * limited, because a limit on the result would reveal the size of the rest.
 */
export function blindMetadataBytes(actor: Actor, token: TokenRow, { metadata }: TokenPatch): number {
  if (metadata === undefined || isEmptyMerge(metadata)) return token.blind_metadata_bytes;
  // Null replaces everything.
  if (!isObject(metadata) || seesMetadata(actor, token)) return 0;
  const after = token.blind_metadata_bytes + Buffer.byteLength(JSON.stringify(metadata));
  if (after <= mebibyte) return after;
  const detail =
    'metadata: keys without token:read may merge at most 1 MiB into the metadata of a token. A change of metadata by a key with token:read starts this count again from 0';
  throw new ServiceError('payload_too_large', detail, { limit: 'data_size' });
}
