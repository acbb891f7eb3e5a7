import { holds, type PermissionType } from '@sluice/access';
import { ServiceError } from '@sluice/problems';
import type { Actor } from './token.ts';

export function requirePermission(actor: Actor, permission: PermissionType): void {
  if (!holds(actor, permission))
    throw new ServiceError('forbidden', `This operation needs the permission ${permission}`);
}

export function notGranted(permission: PermissionType, names: readonly string[]): ServiceError {
  return new ServiceError('forbidden', `${permission} is not granted on ${names.join(', ')}`);
}
