import { type List, SluiceError } from '@sluice/sdk';

/** Reads a whole list. Where a page of large items is refused (413), it begins again with smaller pages. */
export async function readAll<Item>(list: (size: number) => List<Item>): Promise<Item[]> {
  for (const size of [100, 10]) {
    try {
      return await list(size).toArray();
    } catch (error) {
      if (!(error instanceof SluiceError && error.status === 413)) throw error;
    }
  }
  return list(1).toArray();
}
