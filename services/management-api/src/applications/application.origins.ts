import type { ApplicationType } from '@sluice/access';
import { isLocalHost } from '@sluice/hosts';
import { type FieldErrors, validationFailed } from '@sluice/problems';

const host = /^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])$/;
const form =
  'must be an origin exactly as browsers send it, such as https://shop.example or https://shop.example:8443; http only for localhost, *.localhost and 127.0.0.1';

/**
 * Undefined and null pass. Values are copied into a content security policy, so they must contain nothing that ends a directive.
 * @throws {ServiceError} `validation_failed` naming each entry.
 */
export function checkOrigins<T extends string[] | null | undefined>(sent: T, type: ApplicationType): T | string[] {
  if (!sent) return sent;
  if (type !== 'public') throw validationFailed({ allowed_origins: ['is allowed only for public Applications'] });
  const errors: FieldErrors = {};
  sent.forEach((origin, i) => {
    if (!isOrigin(origin)) errors[`allowed_origins[${i}]`] = [form];
  });
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  return [...new Set(sent)];
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin, protocol, hostname } = new URL(text);
  if (origin !== text || !host.test(hostname)) return false;
  return protocol === 'https:' || (protocol === 'http:' && isLocalHost(hostname));
}
