import { canonicalContainer, covers } from './containers.ts';

export type RuleTransform = 'redact' | 'mask' | 'reveal';

export interface RuleCondition {
  attribute: 'id' | 'container';
  operator: 'starts_with' | 'equals';
  value: string;
}

export interface AccessRule {
  description?: string;
  /** From 1; a higher value has lower precedence. */
  priority: number;
  /** A rule with neither container nor conditions reaches every container. */
  container?: string;
  conditions?: readonly RuleCondition[];
  transform: RuleTransform;
  permissions: readonly string[];
}

export interface Grants {
  permissions: readonly string[];
  rules: readonly AccessRule[];
  /** Set for a session: the grants of its authorizing Application, which it cannot exceed. */
  within?: Grants;
}

/** Without an id no condition on an id holds. */
export type DecidedOn = readonly string[] | { id: string; containers: readonly string[] };

const flatTransform: RuleTransform = 'mask';

/** Strictest first. */
const strictness: readonly RuleTransform[] = ['redact', 'mask', 'reveal'];

/**
 * Decides by the first rule, by priority and then position, that reaches the token and grants the permission. Flat
 * permissions come after the rules and reach every container. A session gets only what both its own grants and {@link
 * Grants.within} give, with the stricter of the two transforms.
 * @returns the transform for the token's `data`, or undefined where nothing grants the operation.
 */
export function decide(grants: Grants, permission: string, token: DecidedOn): RuleTransform | undefined {
  const own = decideAlone(grants, permission, token);
  if (own === undefined || grants.within === undefined) return own;
  const outer = decide(grants.within, permission, token);
  return outer && strictness[Math.min(strictness.indexOf(own), strictness.indexOf(outer))];
}

function decideAlone(grants: Grants, permission: string, token: DecidedOn): RuleTransform | undefined {
  let deciding: AccessRule | undefined;
  for (const rule of grants.rules) {
    if (deciding && rule.priority >= deciding.priority) continue;
    if (rule.permissions.includes(permission) && reaches(rule, token)) deciding = rule;
  }
  if (deciding) return deciding.transform;
  return grants.permissions.includes(permission) ? flatTransform : undefined;
}

function reaches({ container, conditions = [] }: AccessRule, token: DecidedOn): boolean {
  if (container === undefined && conditions.length === 0) return true;
  const containers = containersOf(token);
  const isCovered = container === undefined || containers.some((candidate) => covers(container, candidate));
  return isCovered && conditions.every((condition) => meets(token, containers, condition));
}

function meets(
  token: DecidedOn,
  containers: readonly string[],
  { attribute, operator, value }: RuleCondition,
): boolean {
  if (attribute === 'id') {
    if (!('id' in token)) return false;
    return operator === 'equals' ? token.id === value : token.id.startsWith(value);
  }
  // Compares whole segments: `/a/` is not a prefix of `/ab/`.
  if (operator === 'starts_with') return containers.some((candidate) => covers(value, candidate));
  const wanted = canonicalContainer(value);
  return containers.some((candidate) => canonicalContainer(candidate) === wanted);
}

function containersOf(token: DecidedOn): readonly string[] {
  return 'containers' in token ? token.containers : token;
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
