import type { Charset } from '@sluice/sandbox';
import type { Site, SiteScanner } from './site.ts';

/** A byte order mark, in UTF-8 and in its bytes read as Latin-1. */
const marks = '\ufeff\xef\xbb\xbf';
const markBytes = 3;
const separator = /[,;\t\r\n]/g;

/** RFC 4180, also with semicolons and tabs, because spreadsheets write them. */
export class CsvScanner implements SiteScanner {
  #state: 'start' | 'plain' | 'quoted' | 'quote' = 'start';
  #position = 0;

  read(literal: string): void {
    for (let at = 0; at < literal.length; ) {
      const next = this.#step(literal, at);
      this.#position += next - at;
      at = next;
    }
  }

  meet(): Pick<Site, 'in' | 'before'> {
    if (this.#state === 'quoted') return { in: 'quoted', before: '' };
    this.#state = 'plain';
    this.#position += markBytes;
    return { in: 'cell', before: '' };
  }

  #step(text: string, at: number): number {
    const c = text[at] ?? '';
    switch (this.#state) {
      case 'start':
        if (this.#position < markBytes && marks.includes(c)) return at + 1;
        return this.#begin(c === '"' ? 'quoted' : stateBehind(c), at + 1);
      case 'quote':
        return this.#begin(c === '"' ? 'quoted' : stateBehind(c), at + 1);
      case 'quoted': {
        const quote = text.indexOf('"', at);
        return quote === -1 ? text.length : this.#begin('quote', quote + 1);
      }
      default: {
        separator.lastIndex = at;
        const found = separator.exec(text);
        return found ? this.#begin('start', found.index + 1) : text.length;
      }
    }
  }

  #begin(state: 'start' | 'plain' | 'quoted' | 'quote', at: number): number {
    this.#state = state;
    return at;
  }
}

const stateBehind = (c: string) => (c.search(separator) === -1 ? 'plain' : 'start');

export function writeInCsv(value: string, site: Site, charset: Charset): string | undefined {
  if (!charset.encode(value)) return undefined;
  if (site.in === 'quoted') return value.replaceAll('"', '""');
  return /[",;\t\r\n]/.test(value) ? undefined : value;
}
