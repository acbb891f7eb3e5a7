import { ServiceError } from '@sluice/problems';

/** The code of keys that are refused, because the Tenant's keys are closed with it. */
export function tenantClosed(): ServiceError {
  return new ServiceError('unauthenticated', 'The Tenant of this key is closed');
}
