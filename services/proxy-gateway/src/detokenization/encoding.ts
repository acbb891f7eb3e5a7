import { isUtf8 } from 'node:buffer';
import { invalidExpression, type Segment } from '@sluice/vault';
import { charsetOfXml } from '../http/charset.ts';
import type { ContentKind } from '../http/content-type.ts';
import { quoted } from './place.ts';

const why = 'and values are written in UTF-8';
export const notUtf8 = `it stands in text that is not UTF-8, ${why}`;

/** Values are written in UTF-8 only, so in other text readers would take them for something else, or end a string early. */
export function encodingFault(
  body: Buffer,
  { kind, isWhole, charset = isWhole ? charsetIn(body, kind) : undefined }: Declared,
): string | undefined {
  if (charset !== undefined) return `it stands in text of the charset ${quoted(charset)}, ${why}`;
  return isUtf8(body) ? undefined : notUtf8;
}

interface Declared {
  kind: ContentKind;
  isWhole: boolean;
  charset: string | undefined;
}

const longestDeclaration = 1000;

/** The foreign charset that the beginning of a body declares. */
export function charsetIn(beginning: Buffer, kind: ContentKind): string | undefined {
  return kind === 'xml' ? charsetOfXml(beginning.toString('latin1', 0, longestDeclaration)) : undefined;
}

/** One is enough for the whole body to be refused. */
export function refuseFirst(segments: readonly Segment[], reason: string | undefined): void {
  const first = segments.find((segment) => segment.kind === 'expression');
  if (first && reason !== undefined) first.fault ??= invalidExpression(first.start, reason);
}
