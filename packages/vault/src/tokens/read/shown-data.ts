import { parsedBytes } from '@sluice/body-bytes';
import type { Json } from '../../json.ts';

/** Counts the text and the objects parsed from it. */
const mostText = 8 * 1024 * 1024;
const mostParsed = 64 * 1024 * 1024;

/**
 * Counts only data that the reader of a response sees, because the size of hidden data must not decide about anything.
 */
export class ShownData {
  #leftText = mostText;
  #leftParsed = mostParsed;

  /** `more` characters are shown besides the value. @returns whether it still fits. */
  add(data: Json | undefined, more = 0): boolean {
    const text = data === undefined ? '' : JSON.stringify(data);
    this.#leftText -= text.length + more;
    this.#leftParsed -= parsedBytes(Buffer.from(text));
    return this.#leftText >= 0 && this.#leftParsed >= 0;
  }
}
