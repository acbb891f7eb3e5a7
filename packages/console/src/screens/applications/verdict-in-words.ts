import type { AccessExplanation } from '@sluice/sdk';

type TokenMember = NonNullable<NonNullable<AccessExplanation['decided_by']>['token']>;

/** As the page of a token calls what it is bound to. */
export const tokenMembers: Readonly<Record<TokenMember, string>> = {
  'use.proxies': 'Proxies',
  'use.destinations': 'Destinations',
  'use.methods': 'Methods',
  'use.places': 'Places',
  'use.max_uses': 'Uses',
  'use.until': 'Until',
};

/** The reason without the names of members, which `decided_by` names too. Rules count from 1, as the page shows them. */
export function reasonInWords(reason: string): string {
  return reason
    .replace(/rules\[(\d+)\]/g, (_, position) => `Rule ${Number(position) + 1}`)
    .replace(/ \((?:field |use\.)\w+ of the \w+\)/g, '');
}
