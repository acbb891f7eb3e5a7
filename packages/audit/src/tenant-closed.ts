import { ServiceError } from '@sluice/problems';

/** The error for refused keys, because the Tenant's keys end with it. */
export function tenantClosed(): ServiceError {
  return new ServiceError('unauthenticated', 'The Tenant of this key is closed');
}
