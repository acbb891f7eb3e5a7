import type { RuleTransform } from './access-rule.ts';
import { decide } from './decide.ts';
import type { DecidedOn, Grants } from './explain.ts';

const transformRank: Record<RuleTransform, number> = { redact: 1, mask: 2, reveal: 3 };

/**
 * Whether these grants show more of a token at `after` than at `before`. Using a token gives plaintext away and
 * searching tests guesses, so both count as seeing. The grants of a session's Application count too, because otherwise
 * the session could move a token that it cannot see to where its Application may read it.
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
