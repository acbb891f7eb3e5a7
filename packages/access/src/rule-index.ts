import type { AccessRule, RuleCondition, RuleTransform } from './access-rule.ts';
import { canonicalContainer } from './containers.ts';

interface RankedRule {
  /** The lowest rank decides. */
  rank: number;
  transform: RuleTransform;
  /** Among all rules, from 0. */
  position: number;
}

interface ConditionalRule extends RankedRule {
  /** In canonical form, like the values of conditions on containers. */
  container: string | undefined;
  conditions: readonly RuleCondition[];
}

/** The rules that grant one permission, prepared so that a decision does not compare each rule with each container. */
export interface RuleIndex {
  /** By canonical container: the first of the rules without conditions. */
  byContainer: ReadonlyMap<string, RankedRule>;
  /** The first of the rules with neither container nor conditions. */
  everywhere: RankedRule | undefined;
  /** By rank. */
  conditional: readonly ConditionalRule[];
  /** Lengths of all containers that rules and conditions name. Only beginnings of these lengths can be among them. */
  lengths: ReadonlySet<number>;
}

type Rules = readonly AccessRule[];

/** By permission. Callers are cached, so most rules are prepared once. */
const indexes = new WeakMap<Rules, Map<string, RuleIndex>>();

export function indexOf(rules: Rules, permission: string): RuleIndex {
  let byPermission = indexes.get(rules);
  if (!byPermission) {
    byPermission = new Map();
    indexes.set(rules, byPermission);
  }
  let index = byPermission.get(permission);
  if (!index) {
    index = prepare(rules, permission);
    byPermission.set(permission, index);
  }
  return index;
}

function prepare(rules: Rules, permission: string): RuleIndex {
  const byContainer = new Map<string, RankedRule>();
  const conditional: ConditionalRule[] = [];
  const lengths = new Set<number>();
  const canonical = (container: string): string => {
    const form = canonicalContainer(container);
    lengths.add(form.length);
    return form;
  };
  let everywhere: RankedRule | undefined;
  const granting = rules.flatMap((rule, position) =>
    rule.permissions.includes(permission) ? [{ rule, position }] : [],
  );
  const byPriority = granting.toSorted((a, b) => a.rule.priority - b.rule.priority);
  for (const [rank, { rule, position }] of byPriority.entries()) {
    const { transform, conditions = [] } = rule;
    const container = rule.container === undefined ? undefined : canonical(rule.container);
    if (conditions.length > 0) {
      const prepared = conditions.map((condition) =>
        condition.attribute === 'id' ? condition : { ...condition, value: canonical(condition.value) },
      );
      conditional.push({ rank, position, transform, container, conditions: prepared });
    } else if (container === undefined) everywhere ??= { rank, position, transform };
    else if (!byContainer.has(container)) byContainer.set(container, { rank, position, transform });
  }
  return { byContainer, everywhere, conditional, lengths };
}

/** The containers that include this one, itself too, with these lengths. In canonical form. */
export function* coveringOf(canonical: string, lengths: ReadonlySet<number>): Generator<string> {
  for (let slash = canonical.indexOf('/'); slash !== -1; slash = canonical.indexOf('/', slash + 1)) {
    if (lengths.has(slash + 1)) yield canonical.slice(0, slash + 1);
  }
}
