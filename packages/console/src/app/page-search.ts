/** `?page=2` of a list, in the address. */
export interface PageSearch {
  page?: number;
}

/** The service accepts no greater one. */
const lastPage = 2_147_483_647;

export function pageSearch({ page }: Record<string, unknown>): PageSearch {
  return typeof page === 'number' && Number.isInteger(page) && page > 1 ? { page: Math.min(page, lastPage) } : {};
}

export const pageSizes = [20, 50, 100] as const;

/** What every list has in its address. The defaults are left out: 20 rows, newest first. */
export interface ListSearch<Sort extends string = string> extends PageSearch {
  size?: 50 | 100;
  /** As the API names it. */
  sort?: Sort;
}

function listSearch<Sort extends string>(search: Record<string, unknown>, sorts: readonly Sort[]): ListSearch<Sort> {
  const { size } = search;
  const sort = sorts.find((one) => one === search.sort);
  return { ...pageSearch(search), ...((size === 50 || size === 100) && { size }), ...(sort && { sort }) };
}

/** The same of a list whose rows are searched by name. */
export interface NameSearch extends ListSearch<'created_at' | 'name' | '-name'> {
  name?: string;
}

export function nameSearch(search: Record<string, unknown>): NameSearch {
  return { ...listSearch(search, ['created_at', 'name', '-name']), ...textSearch(search, ['name']) };
}

/** The same of a list of people. */
export interface EmailSearch extends ListSearch<'created_at' | 'email' | '-email'> {
  email?: string;
}

export function emailSearch(search: Record<string, unknown>): EmailSearch {
  return { ...listSearch(search, ['created_at', 'email', '-email']), ...textSearch(search, ['email']) };
}

/** The same of a list in one order. */
export function sizeSearch(search: Record<string, unknown>): ListSearch<never> {
  return listSearch(search, []);
}

/**
 * The named parameters of the address that have text. The router has parsed a text of digits alone as a number.
 */
export function textSearch<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const texts = names.flatMap((name) => {
    const value = search[name];
    const text = typeof value === 'number' ? String(value) : value;
    return typeof text === 'string' && text !== '' ? [[name, text]] : [];
  });
  return Object.fromEntries(texts);
}
