import type { Charset } from '@sluice/sandbox';

/** Where an expression stands, which decides how its value is written. */
export interface Site {
  in:
    | 'text'
    | 'attribute'
    /** In a tag, outside of quotes. */
    | 'tag'
    | 'declaration'
    | 'comment'
    | 'instruction'
    | 'cdata'
    | 'script'
    /** A quoted cell, and any other, of CSV. */
    | 'quoted'
    | 'cell'
    /** Where nothing is escaped. */
    | 'plain';
  /** The last characters before the expression that belong to the same place, at most {@link nearby}. */
  before: string;
  /** The first characters behind it. */
  after: string;
  /** Another expression stands within the characters that `after` lacks. */
  meetsAnother: boolean;
}

/** What begins or ends a place (`<!--`, `]]>`) can be divided by a value. These many characters of it are looked at. */
export const nearby = 3;

/** Follows a text whose expressions are left out. How the text is divided into literals makes no difference. */
export interface SiteScanner {
  read(literal: string): void;
  /** An expression stands here. */
  meet(): Pick<Site, 'in' | 'before'>;
}

/** The value as it is written; undefined if its place cannot hold it. */
export type WriteAtSite = (value: string, site: Site, charset: Charset) => string | undefined;

export const plainText: SiteScanner = { read: () => {}, meet: () => ({ in: 'plain', before: '' }) };
