import { covers } from './containers.ts';

export type RuleTransform = 'redact' | 'mask' | 'reveal';

/** A grant: these permissions, on this container, answered with this transform. */
export interface AccessRule {
  description?: string;
  /** From 1; a higher value has lower precedence. */
  priority: number;
  /** Without one the rule reaches every container. */
  container?: string;
  transform: RuleTransform;
  permissions: readonly string[];
}

/** What an Application may do: flat permissions, and rules. */
export interface Grants {
  permissions: readonly string[];
  rules: readonly AccessRule[];
}

/** What flat permissions imply for the `data` of token responses. */
const flatTransform: RuleTransform = 'mask';

/**
 * Whether the operation is granted on a token in these containers, and with which transform. The first rule by
 * priority, then position, that covers one of the containers and grants the permission decides; flat permissions come
 * after the rules and reach all containers.
 * @returns the transform for the `data` of token responses, or undefined where nothing grants it.
 */
export function decide(grants: Grants, permission: string, containers: readonly string[]): RuleTransform | undefined {
  let deciding: AccessRule | undefined;
  for (const rule of grants.rules) {
    if (deciding && rule.priority >= deciding.priority) continue;
    if (rule.permissions.includes(permission) && reaches(rule, containers)) deciding = rule;
  }
  if (deciding) return deciding.transform;
  return grants.permissions.includes(permission) ? flatTransform : undefined;
}

function reaches({ container }: AccessRule, containers: readonly string[]): boolean {
  return container === undefined || containers.some((candidate) => covers(container, candidate));
}

/**
 * Whether the operation is granted on each of these containers by itself. Creating in containers and moving to them
 * needs all; reading needs one, which is what {@link decide} tells.
 */
export function isGrantedOnEach(grants: Grants, permission: string, containers: readonly string[]): boolean {
  return containers.every((container) => decide(grants, permission, [container]) !== undefined);
}

/** Whether the permission is held at all, flat or by any rule. */
export function holds(grants: Grants, permission: string): boolean {
  return grants.permissions.includes(permission) || grants.rules.some((rule) => rule.permissions.includes(permission));
}
