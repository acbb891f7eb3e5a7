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

export interface Explanation {
  /** For the token's `data`. */
  transform: RuleTransform;
  /** The rule's position in `rules`, from 0, or the flat permission. */
  decidedBy: { rule: number } | { permission: string };
  /** For a session: what its authorizing Application may do. The stricter of the two transforms counts. */
  within?: Explanation;
}

const flatTransform: RuleTransform = 'mask';

/** Strictest first. */
const strictness: readonly RuleTransform[] = ['redact', 'mask', 'reveal'];

/**
 * Finds the deciding rule: the first, by priority and then position, that reaches the token and grants the permission.
 * Flat permissions come after the rules and reach every container. A session gets only what both its own grants and
 * {@link Grants.within} give, with the stricter of the two transforms.
 * @returns undefined if nothing grants the operation.
 */
export function explain(grants: Grants, permission: string, token: DecidedOn): Explanation | undefined {
  const own = explainAlone(grants, permission, token);
  if (own === undefined || grants.within === undefined) return own;
  const within = explain(grants.within, permission, token);
  return within && { ...own, transform: stricterOf(own.transform, within.transform), within };
}

function stricterOf(one: RuleTransform, other: RuleTransform): RuleTransform {
  return strictness.indexOf(one) < strictness.indexOf(other) ? one : other;
}

function explainAlone({ permissions, rules }: Grants, permission: string, token: DecidedOn): Explanation | undefined {
  const deciding = rules.length === 0 ? undefined : decidingRule(indexOf(rules, permission), token);
  if (deciding) return { transform: deciding.transform, decidedBy: { rule: deciding.position } };
  return permissions.includes(permission) ? { transform: flatTransform, decidedBy: { permission } } : undefined;
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

export function containersOf(token: DecidedOn): readonly string[] {
  return 'containers' in token ? token.containers : token;
}
