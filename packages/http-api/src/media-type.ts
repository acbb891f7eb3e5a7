import { ServiceError } from '@sluice/problems';

/** `application/json` accepts any `+json` (RFC 9110 section 8.3.1). @throws {ServiceError} also for any coding. */
export function checkMediaType(headers: NodeJS.Dict<string | string[]>, consumes: string): void {
  const sent = String(headers['content-type'] ?? '')
    .split(';', 1)[0]
    ?.trim()
    .toLowerCase();
  const takesAnyJson = consumes === 'application/json';
  if (sent !== consumes && !(takesAnyJson && sent?.match(/^application\/[a-z0-9!#$&^_.+-]+\+json$/))) {
    throw new ServiceError('unsupported_media_type', `The Content-Type must be ${consumes}`);
  }
  const coding = String(headers['content-encoding'] ?? 'identity');
  if (coding.toLowerCase() !== 'identity') {
    throw new ServiceError('unsupported_media_type', 'The body must be sent without Content-Encoding');
  }
}
