import { slow } from '@sluice/testing';
import fc from 'fast-check';
import {
  decide,
  type Grants,
  holds,
  mayGive,
  permissionsFor,
  permissionsLackedBy,
  permissionsOf,
  type Role,
  roles,
} from './index.ts';

const management = permissionsFor('management').map(({ type }) => type);

test('the four roles', () => {
  expect(permissionsOf('OWNER')).toEqual(management);
  expect(management.filter((type) => !permissionsOf('ADMIN').includes(type as never))).toEqual(['tenant:delete']);
  expect(permissionsOf('DEVELOPER').filter((type) => type.startsWith('tenant:'))).toEqual([]);
  expect(management.filter((type) => !permissionsOf('DEVELOPER').includes(type as never))).toHaveLength(10);
  expect(permissionsOf('AUDITOR')).toEqual([
    'tenant:read',
    'application:read',
    'log:read',
    'reactor:read',
    'proxy:read',
    'tenant:member:read',
    'tenant:invitation:read',
    'report:read',
  ]);
});

test('OWNER is given by an OWNER only, whatever a key holds', () => {
  const all: Grants = { permissions: management, rules: [] };
  expect(mayGive(all, 'OWNER')).toBe(false);
  expect(mayGive(all, 'ADMIN')).toBe(true);
  expect(mayGive({ ...all, role: 'OWNER' }, 'OWNER')).toBe(true);
  expect(mayGive({ permissions: permissionsOf('ADMIN'), rules: [], role: 'ADMIN' }, 'OWNER')).toBe(false);
});

/** Somebody who can act: a member, or an Application of type `management`. */
interface Principal extends Grants {
  role?: Role;
  /** The management permissions of all who helped, at the moments at which they did, and of who helped them. */
  reach: ReadonlySet<string>;
}

const member = (role: Role, reach: ReadonlySet<string>): Principal => ({
  role,
  permissions: permissionsOf(role),
  rules: [],
  reach,
});
const heldBy = ({ permissions, rules }: Grants) => [...permissions, ...rules.flatMap((rule) => rule.permissions)];
/** What an actor passes on to whom it helps. */
const passedOn = (actor: Principal) => new Set([...actor.reach, ...heldBy(actor)]);

interface Check {
  mayGive: typeof mayGive;
  lacked: typeof permissionsLackedBy;
}

const anyRole = fc.constantFrom(...roles);
const somePermissions = fc.subarray(management);
const index = fc.nat({ max: 7 });
const operation = fc.oneof(
  fc.record({ kind: fc.constant('invite' as const), actor: index, role: anyRole }),
  fc.record({ kind: fc.constant('resend' as const), actor: index, at: index }),
  fc.record({ kind: fc.constant('accept' as const), at: index }),
  fc.record({ kind: fc.constant('setRole' as const), actor: index, at: index, role: anyRole }),
  fc.record({ kind: fc.constant('remove' as const), actor: index, at: index }),
  fc.record({
    kind: fc.constant('createApplication' as const),
    actor: index,
    permissions: somePermissions,
    byRule: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('setPermissions' as const), actor: index, at: index, permissions: somePermissions }),
  fc.record({ kind: fc.constant('takeKey' as const), actor: index, at: index }),
);
type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never;

interface Tenant {
  principals: Principal[];
  invitations: { role: Role; reach: ReadonlySet<string> }[];
  done: number;
}

/** The rules of the operations, as management-api applies them. */
function apply(tenant: Tenant, operation: Operation, check: Check): void {
  const { principals, invitations } = tenant;
  const actor = 'actor' in operation ? principals[operation.actor % principals.length] : undefined;
  const needs = (permission: string) => actor !== undefined && holds(actor, permission);
  const target = 'at' in operation ? principals[operation.at % principals.length] : undefined;
  switch (operation.kind) {
    case 'invite':
      if (!actor || !needs('tenant:invitation:create') || !check.mayGive(actor, operation.role)) return;
      invitations.push({ role: operation.role, reach: passedOn(actor) });
      break;
    case 'resend': {
      const invitation = invitations[operation.at % Math.max(invitations.length, 1)];
      if (!actor || !invitation || !needs('tenant:invitation:update') || !check.mayGive(actor, invitation.role)) return;
      invitation.reach = passedOn(actor); // the old link dies, so only who resent it has helped
      break;
    }
    case 'accept': {
      const [invitation] = invitations.splice(operation.at % Math.max(invitations.length, 1), 1);
      if (!invitation) return;
      principals.push(member(invitation.role, invitation.reach));
      break;
    }
    case 'setRole':
      if (!actor || !target?.role || !needs('tenant:member:update')) return;
      if (!check.mayGive(actor, target.role) || !check.mayGive(actor, operation.role)) return;
      principals[principals.indexOf(target)] = member(operation.role, new Set([...target.reach, ...passedOn(actor)]));
      break;
    case 'remove':
      if (!actor || !target?.role || principals.length === 1 || !needs('tenant:member:delete')) return;
      if (!check.mayGive(actor, target.role)) return;
      principals.splice(principals.indexOf(target), 1);
      break;
    case 'createApplication': {
      if (!actor || !needs('application:create') || check.lacked(actor, operation.permissions).length > 0) return;
      const rule = { priority: 1, transform: 'redact' as const, permissions: operation.permissions };
      const grants = operation.byRule
        ? { permissions: [], rules: [rule] }
        : { permissions: operation.permissions, rules: [] };
      principals.push({ ...grants, reach: passedOn(actor) });
      break;
    }
    case 'setPermissions':
      if (!actor || !target || target.role || !needs('application:update')) return;
      if (check.lacked(actor, [...heldBy(target), ...operation.permissions]).length > 0) return;
      principals[principals.indexOf(target)] = {
        permissions: operation.permissions,
        rules: [],
        reach: new Set([...target.reach, ...passedOn(actor)]),
      };
      break;
    case 'takeKey': // by regenerating it: whoever has the new key acts as the Application, and signs in with it
      if (!actor || !target || target.role || !needs('application:update')) return;
      if (check.lacked(actor, heldBy(target)).length > 0) return;
      principals.push({ permissions: target.permissions, rules: target.rules, reach: passedOn(actor) });
      break;
  }
  tenant.done += 1;
}

const beginnings = fc.array(
  fc.oneof(
    anyRole.map((role) => member(role, new Set(permissionsOf(role)))),
    somePermissions.map((permissions) => ({ permissions, rules: [], reach: new Set<string>(permissions) })),
  ),
  { minLength: 1, maxLength: 3, size: 'max' },
);
const token = { id: 'a', containers: ['/'] };
const ofTokens = ['token:read', 'token:use', 'token:search'];

/** @returns what somebody holds that nobody who helped them held; empty where all is well. */
function widened(
  begin: readonly Principal[],
  operations: readonly Operation[],
  check: Check,
  counts = { done: 0 },
): string[] {
  const tenant: Tenant = { principals: [...begin], invitations: [], done: 0 };
  for (const operation of operations) apply(tenant, operation, check);
  counts.done += tenant.done;
  return tenant.principals.flatMap((principal) => [
    ...heldBy(principal).filter((permission) => !principal.reach.has(permission)),
    ...ofTokens.filter((permission) => decide(principal, permission, token) !== undefined),
  ]);
}

const numRuns = 3000;
const sequences = [beginnings, fc.array(operation, { minLength: 10, maxLength: 40, size: 'max' })] as const;

slow('0.9 s')(
  'nobody ends with a management permission that none of those who helped held, and nobody sees a token',
  () => {
    const counts = { done: 0 };
    fc.assert(
      fc.property(...sequences, (begin, operations) => {
        expect(widened(begin, operations, { mayGive, lacked: permissionsLackedBy }, counts)).toEqual([]);
      }),
      { numRuns },
    );
    expect(counts.done).toBeGreaterThan(2 * numRuns); // most sequences do something
  },
);

test.each<[string, Partial<Check>]>([
  ['roles were given freely', { mayGive: () => true }],
  [
    'a key could give OWNER to whoever it likes',
    { mayGive: (giver, role) => role === 'OWNER' || mayGive(giver, role) },
  ],
  ['Applications were given permissions freely', { lacked: () => [] }],
  [
    'permissions of rules were overlooked',
    { lacked: ({ permissions }, wanted) => wanted.filter(() => permissions.length === 0) },
  ],
])('the test would find it if %s', (_name, part) => {
  const check = { mayGive, lacked: permissionsLackedBy, ...part };
  const property = fc.property(...sequences, (begin, operations) => widened(begin, operations, check).length === 0);
  expect(fc.check(property, { numRuns }).failed).toBe(true);
});
