/** `?page=2` of a list, in the address. */
export interface PageSearch {
  page?: number;
}

export function pageSearch({ page }: Record<string, unknown>): PageSearch {
  return typeof page === 'number' && Number.isInteger(page) && page > 1 ? { page } : {};
}

/** The same of a list that is searched by name. */
export interface NameSearch extends PageSearch {
  name?: string;
}

export function nameSearch(search: Record<string, unknown>): NameSearch {
  return { ...pageSearch(search), ...textSearch(search, ['name']) };
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
