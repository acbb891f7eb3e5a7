import fc from 'fast-check';
import { type AccessRule, canonicalContainer, covers, decide, type Grants, type RuleCondition } from './index.ts';

const long = `/${'a'.repeat(380)}`;
const containers = Array.from({ length: 20 }, (_, i) => `${long}/token${i}/`);
const permissions = ['token:read'];

/** As many as an Application may have; none reaches the token. */
const plain = (count: number): AccessRule[] =>
  Array.from({ length: count }, (_, i) => ({
    priority: 1,
    container: `${long}/rule${i}`,
    transform: 'mask',
    permissions,
  }));

/** As many as a session may have; none holds. */
const conditional = (count: number): AccessRule[] =>
  Array.from({ length: count }, (_, rule) => ({
    priority: 1,
    transform: 'mask',
    permissions,
    conditions: Array.from({ length: 10 }, (_, i) => ({
      attribute: 'container',
      operator: 'starts_with',
      value: i === 9 ? `${long}/rule${rule}` : long,
    })),
  }));

function cpuMsOf(grants: Grants, decisions: number): number {
  const startedAt = process.threadCpuUsage();
  for (let i = 0; i < decisions; i++) expect(decide(grants, 'token:read', { id: 'x', containers })).toBeUndefined();
  const { user, system } = process.threadCpuUsage(startedAt);
  return (user + system) / 1000;
}

test.each([
  ['a thousand rules', plain, 1000],
  ['a hundred rules of ten conditions', conditional, 100],
])('%s take a decision about twenty long containers at most ten times the time of one', (_, make, count) => {
  const one = { permissions: [], rules: make(1) };
  const many = { permissions: [], rules: make(count) };
  cpuMsOf(one, 100);
  cpuMsOf(many, 10);
  expect(cpuMsOf(many, 100)).toBeLessThan(10 * cpuMsOf(one, 100) + 20);
});

test('decides as if each rule were compared with each container', () => {
  const container = fc.array(fc.constantFrom('a', 'b', 'ab'), { maxLength: 3 }).map((parts) => `/${parts.join('/')}`);
  const condition = fc.record({
    attribute: fc.constantFrom('id' as const, 'container' as const),
    operator: fc.constantFrom('equals' as const, 'starts_with' as const),
    value: fc.oneof(container, fc.constantFrom('', '1', '12', '/', '//', 'a//b')),
  });
  const anyRule = fc.record(
    {
      priority: fc.integer({ min: 1, max: 3 }),
      transform: fc.constantFrom('redact' as const, 'mask' as const, 'reveal' as const),
      permissions: fc.subarray(['token:read', 'token:use']),
      container,
      conditions: fc.array(condition, { maxLength: 3 }),
    },
    { requiredKeys: ['priority', 'transform', 'permissions'] },
  );
  const anyToken = fc.record({
    id: fc.constantFrom('1', '12', '2'),
    containers: fc.array(container, { minLength: 1, maxLength: 3 }),
  });
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 6 }), anyToken, (rules, token) => {
      const isMet = ({ attribute, operator, value }: RuleCondition): boolean => {
        if (attribute === 'id') return operator === 'equals' ? token.id === value : token.id.startsWith(value);
        if (operator === 'starts_with') return token.containers.some((at) => covers(value, at));
        return token.containers.some((at) => canonicalContainer(at) === canonicalContainer(value));
      };
      const applies = ({ container: granted, conditions = [], permissions: some }: AccessRule): boolean =>
        some.includes('token:read') &&
        (granted === undefined || token.containers.some((at) => covers(granted, at))) &&
        conditions.every(isMet);
      const first = rules.toSorted((a, b) => a.priority - b.priority).find(applies);
      expect(decide({ permissions: [], rules }, 'token:read', token)).toBe(first?.transform);
    }),
    { numRuns: 3000 },
  );
});
