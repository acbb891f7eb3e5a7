import type { ListSearch } from '../../app/page-search.ts';

export const tokenFilters = ['id', 'type', 'container', 'metadata', 'from', 'to'] as const;

export type TokenFilters = Partial<Record<(typeof tokenFilters)[number], string>>;

/** The filters of the list, in its address. `metadata` is `key=value`; `from` and `to` are moments of creation. */
export type TokenSearch = ListSearch<never> & TokenFilters;

export const tokenTypes = {
  token: 'Token',
  card: 'Card',
  card_number: 'Card number',
  bank: 'Bank account',
  us_bank_account_number: 'US bank account number',
  us_bank_routing_number: 'US bank routing number',
  social_security_number: 'Social security number',
  employer_id_number: 'Employer id number',
} as const;

/** The filters in the query language of the search. Undefined without any. */
export function queryOf({ id, type, container, metadata, from, to }: TokenFilters): string | undefined {
  const [key = '', ...value] = metadata?.split('=') ?? [];
  const terms = [
    id && `id:${quote(id)}`,
    type && `type:${quote(type)}`,
    container && `container:${/^[\w/-]+\*$/.test(container) ? container : quote(container)}`,
    metadata && `metadata.${quote(key)}:${quote(value.join('='))}`,
    (from || to) && `created_at:[${from ?? '1970-01-01T00:00:00Z'} TO ${to ?? '9999-12-30T00:00:00Z'}]`,
  ].filter(Boolean);
  return terms.length > 0 ? terms.join(' AND ') : undefined;
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
