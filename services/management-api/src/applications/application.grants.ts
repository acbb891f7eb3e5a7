import { type ApplicationType, isHoldable } from '@sluice/access';
import { type FieldErrors, validationFailed } from '@sluice/problems';
import type { CreateApplication } from './application.schema.ts';

export type SentGrants = Pick<CreateApplication, 'permissions' | 'rules'>;
type SentRule = SentGrants['rules'][number];

/** @throws {ServiceError} `validation_failed` where nothing is granted at all, whatever the type. */
export function requireGrants({ permissions, rules }: SentGrants): void {
  if (permissions.length > 0 || rules.length > 0) return;
  throw validationFailed({ permissions: ['must not be empty when rules is empty'] });
}

/**
 * What an Application of this type may be granted.
 * @returns the grants, duplicates dropped.
 * @throws {ServiceError} `validation_failed` naming each permission and rule that the type cannot hold.
 */
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
  if (container !== undefined && conditions !== undefined) {
    return { member: 'conditions', message: 'cannot stand beside container' };
  }
  if (conditions !== undefined && conditions.length > 0) {
    return { member: 'conditions', message: 'apply only to sessions' };
  }
  if (container === undefined && type !== 'management') {
    return { member: 'container', message: `is required for ${type} Applications` };
  }
  return undefined;
}
