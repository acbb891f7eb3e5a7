import { isDeepStrictEqual } from 'node:util';
import { slow } from '@sluice/testing';
import fc from 'fast-check';
import {
  type AccessRule,
  canonicalContainer,
  covers,
  decide,
  explain,
  type Grants,
  type RuleTransform,
} from './index.ts';

type Token = { id: string; containers: string[] };

const transforms: RuleTransform[] = ['redact', 'mask', 'reveal'];
const permissions = ['token:read', 'token:use', 'token:delete'];
const container = fc.constantFrom('/', '/a/', '/a/b/', '/ab/', '/c', 'a/b');
const ids = fc.constantFrom('1', '10', '11', '2');

const condition = fc.oneof(
  fc.record({ attribute: fc.constant('id' as const), operator: anyOperator(), value: ids }),
  fc.record({ attribute: fc.constant('container' as const), operator: anyOperator(), value: container }),
);
const rule: fc.Arbitrary<AccessRule> = fc.record(
  {
    priority: fc.integer({ min: 1, max: 3 }),
    transform: fc.constantFrom(...transforms),
    permissions: fc.subarray(permissions),
    container,
    conditions: fc.array(condition, { maxLength: 2 }),
  },
  { requiredKeys: ['priority', 'transform', 'permissions'] },
);
const application = fc.record({ permissions: fc.subarray(permissions), rules: fc.array(rule, { maxLength: 5 }) });
const session = fc.record({
  permissions: fc.subarray(permissions),
  rules: fc.array(rule, { maxLength: 5 }),
  within: application,
});
const token = fc.record({ id: ids, containers: fc.uniqueArray(container, { minLength: 1, maxLength: 3 }) });

function anyOperator() {
  return fc.constantFrom('equals' as const, 'starts_with' as const);
}

/** Reads the rules one after the other, as a person would. */
function reaches(one: AccessRule, { id, containers }: Token): boolean {
  if (one.container !== undefined && !containers.some((at) => covers(one.container ?? '', at))) return false;
  return (one.conditions ?? []).every(({ attribute, operator, value }) => {
    if (attribute === 'id') return operator === 'equals' ? id === value : id.startsWith(value);
    if (operator === 'starts_with') return containers.some((at) => covers(value, at));
    return containers.some((at) => canonicalContainer(at) === canonicalContainer(value));
  });
}

function firstRule({ rules }: Grants, permission: string, at: Token): number | undefined {
  const granting = rules
    .map((one, position) => ({ one, position }))
    .filter(({ one }) => one.permissions.includes(permission) && reaches(one, at));
  return granting.sort((x, y) => x.one.priority - y.one.priority || x.position - y.position)[0]?.position;
}

const seen = { rule: 0, permission: 0, nothing: 0, bySession: 0, stricterWithin: 0 };

/** What decided, its transform, and for a session what decided for its Application, all follow from the rules as they stand. */
function isRight(grants: Grants, permission: string, at: Token, explaining = explain): boolean {
  const explained = explaining(grants, permission, at);
  if (decide(grants, permission, at) !== explained?.transform) return false;
  const { within, ...own } = grants;
  const position = firstRule(own, permission, at);
  const isGranted = position !== undefined || own.permissions.includes(permission);
  const outer = within && explain(within, permission, at);
  if (!isGranted || (within && !outer)) {
    seen.nothing += 1;
    return explained === undefined;
  }
  const transform = position === undefined ? 'mask' : own.rules[position]?.transform;
  const strictest = [transform, outer?.transform]
    .filter((one) => one !== undefined)
    .map((one) => transforms.indexOf(one));
  seen[position === undefined ? 'permission' : 'rule'] += 1;
  if (within) seen.bySession += 1;
  if (explained?.transform !== transform) seen.stricterWithin += 1;
  return (
    isDeepStrictEqual(explained?.decidedBy, position === undefined ? { permission } : { rule: position }) &&
    explained?.transform === transforms[Math.min(...strictest)] &&
    isDeepStrictEqual(explained?.within, outer)
  );
}

slow('1 s')('names the first rule that reaches the token, also of sessions, and decides as it says', () => {
  const grants = fc.oneof(application, session);
  const property = fc.property(grants, fc.constantFrom(...permissions), token, (...of) => isRight(...of));
  fc.assert(property, { numRuns: 20_000 });
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(500);
});

test('without the rule that it names, something else decides', () => {
  const property = fc.property(application, token, (grants, at) => {
    const by = explain(grants, 'token:read', at)?.decidedBy;
    if (by === undefined || !('rule' in by)) return;
    const changed = grants.rules.map((one, position) => (position === by.rule ? { ...one, permissions: [] } : one));
    expect(explain({ ...grants, rules: changed }, 'token:read', at)?.decidedBy).not.toEqual(by);
  });
  fc.assert(property, { numRuns: 5_000 });
});

test('the property fails for an explanation that does not look at priorities', () => {
  const byPosition: typeof explain = ({ permissions, rules, within }, permission, at) => {
    const alike = rules.map((one) => ({ ...one, priority: 1 }));
    return explain({ permissions, rules: alike, ...(within && { within }) }, permission, at);
  };
  const property = fc.property(application, token, (grants, at) => isRight(grants, 'token:read', at, byPosition));
  expect(fc.check(property, { numRuns: 20_000, seed: 1 }).failed).toBe(true);
});
