import type { AccessRule, RuleCondition, RuleTransform } from './access-rule.ts';
import { canonicalContainer } from './containers.ts';
import { coveringOf, indexOf, type RuleIndex } from './rule-index.ts';

export interface Grants {
  permissions: readonly string[];
  rules: readonly AccessRule[];
  /** Set for a session: the grants of its authorizing Application, which it cannot exceed. */
  within?: Grants;
}

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

function decideAlone({ permissions, rules }: Grants, permission: string, token: DecidedOn): RuleTransform | undefined {
  const deciding = rules.length === 0 ? undefined : decidingRule(indexOf(rules, permission), token);
  if (deciding) return deciding.transform;
  return permissions.includes(permission) ? flatTransform : undefined;
}

function decidingRule({ byContainer, everywhere, conditional, lengths }: RuleIndex, token: DecidedOn) {
  const containers = new Set(containersOf(token).map(canonicalContainer));
  const covering = new Set<string>();
  let deciding = everywhere;
  for (const container of containers) {
    for (const granted of coveringOf(container, lengths)) {
      covering.add(granted);
      const rule = byContainer.get(granted);
      if (rule && (!deciding || rule.rank < deciding.rank)) deciding = rule;
    }
  }
  const meets = ({ attribute, operator, value }: RuleCondition): boolean => {
    // Compares whole segments: `/a/` is not a prefix of `/ab/`.
    if (attribute === 'container') return (operator === 'equals' ? containers : covering).has(value);
    if (!('id' in token)) return false;
    return operator === 'equals' ? token.id === value : token.id.startsWith(value);
  };
  for (const rule of conditional) {
    if (deciding && rule.rank > deciding.rank) break;
    const isCovered = rule.container === undefined || covering.has(rule.container);
    if (isCovered && rule.conditions.every(meets)) return rule;
  }
  return deciding;
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
