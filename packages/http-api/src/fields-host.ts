import type { IncomingMessage } from 'node:http';
import type { Caller } from '@sluice/credentials';
import { ServiceError } from '@sluice/problems';
import { isOwn } from './cookie-api.ts';
import { singleHeader } from './single-header.ts';

/**
 * Whether the page of the hosted fields sent it, as a browser says and no script can (Fetch Metadata). Other programs
 * can send any header, so this excludes only pages.
 */
export function isFromFields(request: IncomingMessage, fieldsOrigin: string | undefined): boolean {
  return fieldsOrigin !== undefined && singleHeader(request, 'Origin') === fieldsOrigin && isOwn(request);
}

/**
 * Options of an API at the host of the fields. Only frames of that host call it, so it needs no CORS. Each frame names
 * its Application, because the page around it may be an advertisement with a key of its own.
 */
export function forFrames(headerPrefix: string) {
  const name = `${headerPrefix}-FIELDS-APPLICATION`;
  return {
    corsOrigins: undefined,
    judgesOrigins: true,
    refusesServiceWorkers: true,
    /**
     * @throws {ServiceError} 403 for the key of another Application, or of a session that another Application created.
     */
    admit: (request: IncomingMessage, { type, id, madeBy }: Caller): void => {
      const application = singleHeader(request, name)?.toLowerCase();
      const own = type === 'public' ? id : madeBy;
      if (application !== undefined && application === own) return;
      throw new ServiceError(
        'forbidden',
        `The header ${name} must contain the id of the public Application that the key belongs to`,
      );
    },
  };
}
