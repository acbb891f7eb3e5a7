import { canonicalContainer, containerPattern, permissions } from '@sluice/access';
import { type FieldErrors, validationFailed } from '@sluice/problems';
import type { AuthorizeSession } from './session.schema.ts';

type SentRule = AuthorizeSession['rules'][number];

const held = new Set<string>(permissions.map(({ type }) => type).filter((type) => type.startsWith('token:')));
const container = new RegExp(containerPattern);

/**
 * Grants beyond those of the authorizing Application are accepted, because they have no effect. @throws {ServiceError}
 */
export function checkSessionGrants({ permissions: flat, rules }: Pick<AuthorizeSession, 'permissions' | 'rules'>) {
  if (flat.length === 0 && rules.length === 0) {
    throw validationFailed({ permissions: ['must not be empty if there are no rules'] });
  }
  const errors: FieldErrors = {};
  noteUnholdable(errors, 'permissions', flat);
  rules.forEach((rule, i) => {
    noteUnholdable(errors, `rules[${i}].permissions`, rule.permissions);
    noteFaults(errors, `rules[${i}]`, rule);
  });
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  return {
    permissions: [...new Set(flat)],
    rules: rules.map((rule) => ({ ...rule, permissions: [...new Set(rule.permissions)] })),
  };
}

function noteUnholdable(errors: FieldErrors, path: string, sent: readonly string[]): void {
  sent.forEach((permission, i) => {
    if (!held.has(permission)) errors[`${path}[${i}]`] = [`"${permission}" cannot be held by a session`];
  });
}

function noteFaults(errors: FieldErrors, path: string, { container: place, conditions = [] }: SentRule): void {
  if (place !== undefined && conditions.length > 0)
    errors[`${path}.conditions`] = ['cannot be combined with container'];
  if (place === undefined && conditions.length === 0) errors[path] = ['must have a container or conditions'];
  conditions.forEach(({ attribute, value }, i) => {
    if (attribute === 'id' || container.test(value)) return;
    const example = canonicalContainer('pci/high');
    errors[`${path}.conditions[${i}].value`] = [`must be a container, for example ${example}`];
  });
}
