import type { TokenUse } from '@sluice/sdk';

/** {@link TokenUse} as somebody edits it. Empty texts, and null, allow everything. */
export interface BindingDraft {
  proxies: string[] | null;
  destinations: string;
  methods: string;
  places: string;
  maxUses: string;
  until: string | undefined;
}

export function draftOf({ proxies, destinations, methods, places, max_uses, until }: TokenUse): BindingDraft {
  return {
    proxies: proxies ?? null,
    destinations: (destinations ?? []).join('\n'),
    methods: (methods ?? []).join(', '),
    places: (places ?? []).join(', '),
    maxUses: max_uses === undefined ? '' : String(max_uses),
    until,
  };
}

export function toTokenUse(draft: BindingDraft): TokenUse {
  const { proxies, maxUses, until } = draft;
  const destinations = entriesOf(draft.destinations);
  const methods = entriesOf(draft.methods);
  const places = entriesOf(draft.places);
  return {
    ...(proxies && { proxies }),
    ...(destinations.length > 0 && { destinations }),
    ...(methods.length > 0 && { methods }),
    ...(places.length > 0 && { places }),
    ...(maxUses !== '' && { max_uses: Number(maxUses) }),
    ...(until !== undefined && { until }),
  };
}

function entriesOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((entry) => entry !== '');
}
