import type { TokenUse } from '@sluice/sdk';
import { localText } from '../../ui/moment.ts';

/** {@link TokenUse} as somebody edits it. Empty texts, and null, allow everything. */
export interface BindingDraft {
  proxies: string[] | null;
  destinations: string;
  methods: string;
  places: string;
  maxUses: string;
  /** In the reader's zone, to the minute. */
  until: string;
}

export function draftOf({ proxies, destinations, methods, places, max_uses, until }: TokenUse): BindingDraft {
  return {
    proxies: proxies ?? null,
    destinations: (destinations ?? []).join('\n'),
    methods: (methods ?? []).join(', '),
    places: (places ?? []).join(', '),
    maxUses: max_uses === undefined ? '' : String(max_uses),
    until: localText(until),
  };
}

/** `from` is the `use` of which the draft was made: its `until` stays to the millisecond, if nobody changed it. */
export function toTokenUse(draft: BindingDraft, from: TokenUse): TokenUse {
  const { proxies, maxUses } = draft;
  const destinations = entriesOf(draft.destinations);
  const methods = entriesOf(draft.methods);
  const places = entriesOf(draft.places);
  const until = momentOf(draft.until, from.until);
  return {
    ...(proxies && { proxies }),
    ...(destinations.length > 0 && { destinations }),
    ...(methods.length > 0 && { methods }),
    ...(places.length > 0 && { places }),
    ...(maxUses !== '' && { max_uses: Number(maxUses) }),
    ...(until !== undefined && { until }),
  };
}

function momentOf(local: string, from: string | undefined): string | undefined {
  if (local === '') return undefined;
  return local === localText(from) ? from : new Date(local).toISOString();
}

function entriesOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((entry) => entry !== '');
}
