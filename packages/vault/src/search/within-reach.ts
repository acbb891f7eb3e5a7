import { type AccessRule, canonicalContainer, type Grants, type RuleCondition } from '@sluice/access';
import { sql } from 'kysely';
import { isInContainer } from './compile-query.ts';
import { type Condition, hasTerm, isWithin, reachOf } from './token-terms.ts';

/** Conditions for tokens on which `decide` grants the permission to the actor and, if a session, to its Application. */
export function withinReach(tenantId: string, grants: Grants, permission: string): Condition[] {
  const own = reached(tenantId, grants, permission) ?? [];
  return [own, grants.within ? withinReach(tenantId, grants.within, permission) : []].flat();
}

function reached(tenantId: string, { permissions, rules }: Grants, permission: string): Condition | undefined {
  const hasConditions = ({ conditions = [] }: AccessRule) => conditions.length > 0;
  const plain = rules.filter((rule) => !hasConditions(rule));
  const within = isWithin(tenantId, reachOf({ permissions, rules: plain }, permission));
  const conditional = rules.filter((rule) => hasConditions(rule) && rule.permissions.includes(permission));
  if (!within || conditional.length === 0) return within;
  const alternatives = [within, ...conditional.map(({ conditions = [] }) => allOf(tenantId, conditions))];
  return sql<boolean>`(${sql.join(alternatives, sql` or `)})`;
}

function allOf(tenantId: string, conditions: readonly RuleCondition[]): Condition {
  const each = conditions.map((condition) => toSql(tenantId, condition));
  return sql<boolean>`(${sql.join(each, sql` and `)})`;
}

function toSql(tenantId: string, { attribute, operator, value }: RuleCondition): Condition {
  if (attribute === 'id') return operator === 'equals' ? sql`id = ${value}` : sql`starts_with(id, ${value}::text)`;
  if (operator === 'equals') return isInContainer(value, tenantId);
  const container = canonicalContainer(value);
  return container === '/' ? sql`true` : hasTerm(tenantId, [{ kind: 'container', value: container }]);
}
