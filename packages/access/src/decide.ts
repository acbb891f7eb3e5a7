import type { RuleTransform } from './access-rule.ts';
import { containersOf, type DecidedOn, explain, type Grants } from './explain.ts';

/**
 * Returns the transform of the rule that {@link explain} finds, so that a decision never differs from its explanation.
 * @returns the transform for the token's `data`, or undefined if nothing grants the operation.
 */
export function decide(grants: Grants, permission: string, token: DecidedOn): RuleTransform | undefined {
  return explain(grants, permission, token)?.transform;
}

/** Creating in containers and moving into them needs a grant on each; reading needs only one, see {@link decide}. */
export function isGrantedOnEach(grants: Grants, permission: string, token: DecidedOn): boolean {
  return containersOf(token).every((container) => {
    const alone = 'id' in token ? { id: token.id, containers: [container] } : [container];
    return decide(grants, permission, alone) !== undefined;
  });
}

export function holds({ permissions, rules, within }: Grants, permission: string): boolean {
  const isOwn = permissions.includes(permission) || rules.some((rule) => rule.permissions.includes(permission));
  return isOwn && (within === undefined || holds(within, permission));
}
