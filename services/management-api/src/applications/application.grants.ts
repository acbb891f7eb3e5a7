import { type ApplicationType, type Grants, holds, isHoldable } from '@sluice/access';
import { type FieldErrors, ServiceError, validationFailed } from '@sluice/problems';
import type { CreateApplication } from './application.schema.ts';

export type SentGrants = Pick<CreateApplication, 'permissions' | 'rules'>;
type SentRule = SentGrants['rules'][number];

/** @throws {ServiceError} `validation_failed` if nothing is granted. */
export function requireGrants({ permissions, rules }: SentGrants): void {
  if (permissions.length > 0 || rules.length > 0) return;
  throw validationFailed({ permissions: ['must not be empty if there are no rules'] });
}

/** Removes duplicates. @throws {ServiceError} `validation_failed` naming each grant that the type cannot hold. */
export function checkGrants(sent: SentGrants, type: ApplicationType): SentGrants {
  const errors: FieldErrors = {};
  noteUnholdable(errors, 'permissions', sent.permissions, type);
  sent.rules.forEach((rule, i) => {
    noteUnholdable(errors, `rules[${i}].permissions`, rule.permissions, type);
    const fault = faultIn(rule, type);
    if (fault) errors[`rules[${i}].${fault.member}`] = [fault.message];
  });
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  return {
    permissions: [...new Set(sent.permissions)],
    rules: sent.rules.map((rule) => ({ ...rule, permissions: [...new Set(rule.permissions)] })),
  };
}

type GrantedPermissions = Pick<Grants, 'permissions'> & { rules: readonly Pick<SentRule, 'permissions'>[] };

/**
 * A caller must not act through an Application with more rights than its own. Token permissions are exempt, because no
 * management key can hold them. @throws {ServiceError} `forbidden` naming the management permissions that it lacks.
 */
export function requireHeld(caller: Grants, ...granted: readonly GrantedPermissions[]): void {
  const all = granted.flatMap(({ permissions, rules }) => [
    ...permissions,
    ...rules.flatMap((rule) => rule.permissions),
  ]);
  const lacking = [...new Set(all)].filter((one) => isHoldable(one, 'management') && !holds(caller, one));
  if (lacking.length === 0) return;
  const detail = `Your key lacks ${lacking.join(', ')}, so it cannot grant these permissions. If an Application has one of them, your key can change neither the Application nor its keys`;
  throw new ServiceError('forbidden', detail);
}

function noteUnholdable(
  errors: FieldErrors,
  path: string,
  permissions: readonly string[],
  type: ApplicationType,
): void {
  permissions.forEach((permission, i) => {
    if (!isHoldable(permission, type)) {
      errors[`${path}[${i}]`] = [`"${permission}" cannot be held by a ${type} Application`];
    }
  });
}

function faultIn(
  { container, conditions }: SentRule,
  type: ApplicationType,
): { member: string; message: string } | undefined {
  if (container !== undefined && conditions !== undefined && conditions.length > 0) {
    return { member: 'conditions', message: 'cannot be combined with container' };
  }
  if (conditions !== undefined && conditions.length > 0) {
    return { member: 'conditions', message: 'apply only to sessions' };
  }
  if (container === undefined && type !== 'management') {
    return { member: 'container', message: `is required for ${type} Applications` };
  }
  return undefined;
}
