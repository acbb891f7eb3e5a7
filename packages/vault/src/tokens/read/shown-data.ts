import { parsedBytes } from '@sluice/body-bytes';
import type { Json } from '../../json.ts';

/** What one request shows at most, as text, and as the objects that this text is parsed into. */
const mostText = 8 * 1024 * 1024;
const mostParsed = 64 * 1024 * 1024;

/**
 * Limits the data that one answer shows. Only what its reader sees is counted, because the size of what is hidden must
 * decide about nothing.
 */
export class ShownData {
  #leftText = mostText;
  #leftParsed = mostParsed;

  /** Counts a value, with `more` characters beside it. @returns whether it still fits. */
  add(data: Json | undefined, more = 0): boolean {
    const text = data === undefined ? '' : JSON.stringify(data);
    this.#leftText -= text.length + more;
    this.#leftParsed -= parsedBytes(Buffer.from(text));
    return this.#leftText >= 0 && this.#leftParsed >= 0;
  }
}
