import { textSearch } from '../../app/page-search.ts';

const filters = ['proxy_id', 'reactor_id', 'application_id', 'trace_id', 'status'] as const;

/** In the address, by the names that the API gives them. */
export type InvocationSearch = Partial<Record<(typeof filters)[number], string>>;

export function invocationSearch(search: Record<string, unknown>): InvocationSearch {
  return textSearch(search, filters);
}
