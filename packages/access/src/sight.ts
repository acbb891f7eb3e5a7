import { type DecidedOn, decide, type Grants, type RuleTransform } from './decide.ts';

const transformRank: Record<RuleTransform, number> = { redact: 1, mask: 2, reveal: 3 };

/**
 * Whether these grants show more of a token where it is `after` than where it is `before`: a stronger transform for reads,
 * or use or search that was not granted before. Using gives plaintext away and searching tests guesses of it, so both
 * count as seeing. Of a session also whether its Application sees more: otherwise a session that itself sees nothing
 * could move the token to where the Application may read it.
 */
export function seesMoreIn(grants: Grants, after: DecidedOn, before: DecidedOn): boolean {
  if (grants.within !== undefined && seesMoreIn(grants.within, after, before)) return true;
  if (rankOf(grants, 'token:read', after) > rankOf(grants, 'token:read', before)) return true;
  return ['token:use', 'token:search'].some(
    (permission) => decide(grants, permission, after) && !decide(grants, permission, before),
  );
}

function rankOf(grants: Grants, permission: string, token: DecidedOn): number {
  const transform = decide(grants, permission, token);
  return transform ? transformRank[transform] : 0;
}
