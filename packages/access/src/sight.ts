import { decide, type Grants, type RuleTransform } from './decide.ts';

const transformRank: Record<RuleTransform, number> = { redact: 1, mask: 2, reveal: 3 };

/**
 * Whether these grants show more of a token in the second containers than in the first: a stronger transform for reads,
 * or use or search that was not granted before. Using gives plaintext away and searching tests guesses of it, so both
 * count as seeing.
 */
export function seesMoreIn(grants: Grants, after: readonly string[], before: readonly string[]): boolean {
  if (rankOf(grants, 'token:read', after) > rankOf(grants, 'token:read', before)) return true;
  return ['token:use', 'token:search'].some(
    (permission) => decide(grants, permission, after) && !decide(grants, permission, before),
  );
}

function rankOf(grants: Grants, permission: string, containers: readonly string[]): number {
  const transform = decide(grants, permission, containers);
  return transform ? transformRank[transform] : 0;
}
