import type { Restriction } from '@sluice/cache-coherence';
import type { MigrationName } from '@sluice/database';
import type { ProxyDefinition } from './proxy.definition.ts';

type Members = Partial<ProxyDefinition>;

/** What a process of a version before would ignore in an invocation. A new Proxy has no members `before`. */
export function restrictionsOf(before: Members, after: Members): Restriction[] {
  return [
    restriction(before, 'token_places', placesThatRestrict(after), '0081-places-and-request-headers'),
    restriction(before, 'request_headers', headersThatCount(after), '0081-places-and-request-headers'),
    restriction(before, 'allowed_methods', after.allowed_methods, '0082-routes'),
    restriction(before, 'allowed_paths', after.allowed_paths, '0082-routes'),
    restriction(before, 'response_guard', guardOf(after), '0084-response-guard'),
  ];
}

function restriction(before: Members, member: keyof Members, wanted: unknown, since: MigrationName): Restriction {
  return { member, stored: before[member], wanted, since };
}

/** A version before replaces tokens in the body of every request. */
function placesThatRestrict({ token_places: places }: Members) {
  return places?.includes('body') ? undefined : places;
}

function headersThatCount({ request_headers: headers }: Members) {
  return headers && Object.keys(headers).length > 0 ? headers : undefined;
}

function guardOf({ response_guard: guard }: Members) {
  return guard === 'off' ? undefined : guard;
}
