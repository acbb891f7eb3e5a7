import { ServiceError } from '@sluice/problems';

/** The same for an id that there is not, one that has expired, and one of another Tenant. */
export function applicationNotFound(id: string): ServiceError {
  return new ServiceError('not_found', `Application ${id} does not exist`);
}
