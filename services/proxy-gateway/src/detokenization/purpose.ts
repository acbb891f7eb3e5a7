import type { Purpose } from '@sluice/vault';
import type { Invocation } from '../proxies/invocation.ts';
import type { Place } from './place.ts';
import { requestHeadersOf } from './places/request-headers.ts';

/**
 * What the tokens in these places of a request are revealed for. A request transform has all of them but those in the
 * headers that the Proxy sets after it.
 */
export function purposeOf({ proxy, head }: Invocation, places: readonly Place[]): Purpose {
  const naming = placesByToken(places);
  const ofProxy = new Set(requestHeadersOf(proxy)?.places);
  return {
    proxyId: proxy.id,
    call: {
      host: new URL(proxy.destination.origin).hostname,
      method: head.target.method,
      placesOf: (id) => (naming.get(id) ?? []).map(({ name = 'body' }) => name),
      isSeenByCode: (id) =>
        proxy.requestTransform !== undefined && naming.get(id)?.every((place) => ofProxy.has(place)) !== true,
    },
  };
}

function placesByToken(places: readonly Place[]): Map<string, Place[]> {
  const naming = new Map<string, Place[]>();
  for (const place of places) {
    for (const segment of place.segments) {
      if (segment.kind === 'literal') continue;
      const known = naming.get(segment.reference);
      if (known) known.push(place);
      else naming.set(segment.reference, [place]);
    }
  }
  return naming;
}
