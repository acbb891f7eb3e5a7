import type { ContentKind } from '../http/content-type.ts';
import { findInForm } from './form.ts';
import { findInJson } from './json.ts';
import type { Place } from './place.ts';
import { findInText } from './text.ts';

/**
 * Bodies are read byte for byte as Latin-1, in which every byte is a character: what is not replaced stays as it came.
 * Errors name the JSON path where the body is whole.
 */
export function findExpressions(body: Buffer, kind: ContentKind, { isWhole = true } = {}): Place[] {
  switch (kind) {
    case 'json':
      return findInJson(body.toString('latin1'), isWhole);
    case 'form':
      return findInForm(body.toString('latin1'));
    case 'xml':
      return findInText(body, 'xml');
    case 'text':
      return findInText(body, 'plain');
    default:
      return [];
  }
}

const openings = ['{{', '%7b', '%7B', '\\u007b', '\\u007B'].map((text) => Buffer.from(text));

/** Whether a body can hold an expression at all, in any spelling. False is certain. */
export function mayHoldExpression(body: Buffer): boolean {
  return openings.some((opening) => body.includes(opening));
}
