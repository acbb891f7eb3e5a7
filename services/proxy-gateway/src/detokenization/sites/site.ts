import type { Charset } from '@sluice/sandbox';

/** The place of an expression, which decides how its value is written. */
export interface Site {
  in:
    | 'text'
    | 'attribute'
    /** In a tag, but in no value: a name. */
    | 'tag'
    /** In a value without quotes. */
    | 'unquoted'
    | 'declaration'
    /** In quotes within a declaration. */
    | 'literal'
    | 'comment'
    | 'instruction'
    | 'cdata'
    | 'script'
    /** A quoted cell of CSV, and any other cell. */
    | 'quoted'
    | 'cell'
    /** Where nothing is escaped. */
    | 'plain';
  /** The last characters before the expression that belong to the same place, at most {@link nearby}. */
  before: string;
  /** The first characters after it. */
  after: string;
  /** Another expression follows before `after` is complete. */
  meetsAnother: boolean;
}

/**
 * A value can complete or divide a mark that begins or ends a place (`<!--`, `]]>`), so this many characters around it
 * are checked.
 */
export const nearby = 3;

/** Follows the text between expressions. It makes no difference how the text is divided into literals. */
export interface SiteScanner {
  read(literal: string): void;
  /** Call it where the text has an expression. */
  meet(): Pick<Site, 'in' | 'before'>;
}

/** The value as written; undefined if its place cannot contain it. */
export type WriteAtSite = (value: string, site: Site, charset: Charset) => string | undefined;

export const plainText: SiteScanner = { read: () => {}, meet: () => ({ in: 'plain', before: '' }) };
