import { ReadPositions } from './read-positions.ts';

/** A page of a list: the envelope, or a plain array of everything. */
type Page = readonly unknown[] | { pagination: Pagination; data: unknown[] };

interface Pagination {
  total_items?: number;
  page_number?: number;
  page_size?: number;
  total_pages?: number;
  /** Where the next page begins, in lists by cursor. */
  next?: string;
}

/** The type of the items of a page. */
export type ItemOf<P> = P extends { data: Array<infer I> } ? I : P extends Array<infer I> ? I : never;

/**
 * A list. Nothing is requested before it is iterated or a page is taken.
 *
 * Iterating yields each item of all pages once, even while items are added, and while the loop deletes items. Where items
 * are large, a page of more than 8 MiB is refused with 413: list them by a smaller `size`.
 */
export class List<Item, P = unknown> implements AsyncIterable<Item> {
  readonly #fetchPage: (position: number | string | undefined) => Promise<P>;

  /** @internal */
  constructor(fetchPage: (position: number | string | undefined) => Promise<P>) {
    this.#fetchPage = fetchPage;
  }

  /**
   * One page as the service answers it: the first, the one with this number, or the one that a cursor (`next`) names.
   */
  page(position?: number | string): Promise<P> {
    return this.#fetchPage(position);
  }

  /** All items, in memory at once. */
  async toArray(): Promise<Item[]> {
    const items: Item[] = [];
    for await (const item of this) items.push(item);
    return items;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Item, void, void> {
    const seen = new Set<unknown>();
    const positions = new ReadPositions();
    for (let position: number | string | undefined; ; ) {
      const page = (await this.#fetchPage(position)) as Page;
      if (!('pagination' in page)) {
        yield* page as readonly Item[];
        return;
      }
      for (const item of page.data) if (isNew(item, seen)) yield item as Item;
      const next = nextPosition(page.pagination, positions);
      if (next === undefined) return;
      position = next;
    }
  }
}

/** New items push others to later pages, where they appear again. */
function isNew(item: unknown, seen: Set<unknown>): boolean {
  const id = typeof item === 'object' && item !== null && 'id' in item ? item.id : undefined;
  if (id === undefined) return true;
  if (seen.has(id)) return false;
  seen.add(id);
  return true;
}

/** The cursor or the number of the next page; undefined at the end. */
function nextPosition(pagination: Pagination, positions: ReadPositions): number | string | undefined {
  const { next, total_items: total = 0, page_number: number = 1, page_size: size = 1, total_pages: pages } = pagination;
  if (next !== undefined) return next;
  return pages === undefined ? undefined : positions.pageAfter({ number, size, total });
}
