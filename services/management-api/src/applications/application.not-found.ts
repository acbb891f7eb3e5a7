import { ServiceError } from '@sluice/problems';

/** The same error for an id that never existed, has expired, or belongs to another Tenant. */
export function applicationNotFound(id: string): ServiceError {
  return new ServiceError('not_found', `Application ${id} does not exist`);
}
