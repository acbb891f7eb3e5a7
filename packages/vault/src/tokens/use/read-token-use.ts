import { parseDate } from '@sluice/database';
import type { FieldErrors } from '@sluice/problems';
import { canonicalHost, type TokenUse } from './token-use.ts';

type Read = { use: TokenUse } | { faults: FieldErrors };

/**
 * `wire` is valid by its schema. Case, a final dot and repetitions are gone from what is stored, so that it can be compared
 * as text. @returns faults by path: what a schema cannot express.
 */
export function readTokenUse(wire: TokenUse, now: Date): Read {
  const faults: FieldErrors = {};
  const { proxies, destinations, methods, places, max_uses, until } = wire;
  const hosts = destinations?.map((destination, i) => {
    const host = canonicalHost(destination);
    if (host === undefined) {
      const example = 'must be a host without a port, for example api.example.com, 192.0.2.1 or *.example.com';
      faults[`use.destinations[${i}]`] = [example];
    }
    return host ?? '';
  });
  const end = until === undefined ? undefined : parseDate(until);
  if (until !== undefined && !end) faults['use.until'] = ['must be an ISO 8601 date'];
  if (end && end <= now) faults['use.until'] = ['must be in the future'];
  if (Object.keys(faults).length > 0) return { faults };
  return {
    use: {
      ...(proxies && { proxies: lowerCased(proxies) }),
      ...(hosts && { destinations: once(hosts) }),
      ...(methods && { methods: once(methods.map((method) => method.toUpperCase())) }),
      ...(places && { places: lowerCased(places) }),
      ...(max_uses !== undefined && { max_uses }),
      ...(end && { until: end.toISOString() }),
    },
  };
}

function lowerCased(texts: readonly string[]): string[] {
  return once(texts.map((text) => text.toLowerCase()));
}

function once(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
