import { parseDate } from '@sluice/database';
import { validationFailed } from '@sluice/problems';

/** @throws {ServiceError} `validation_failed` for a past date. */
export function futureDate(expiresAt: string | undefined): Date | undefined {
  if (expiresAt === undefined) return undefined;
  const date = parseDate(expiresAt);
  if (!date || date.getTime() <= Date.now()) throw validationFailed({ expires_at: ['must be in the future'] });
  return date;
}
