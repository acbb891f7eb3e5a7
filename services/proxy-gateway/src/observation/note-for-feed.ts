import type { ConsoleLine } from '@sluice/sandbox';
import type { Invocation } from '../proxies/invocation.ts';

const mostTokenIds = 20;
const mostIdsChars = 2000;
const mostPrintedChars = 2000;
const mostPrintedLines = 20;

/** Stores the first of them, within bounds that keep a record small. */
export function noteTokenIds(invocation: Pick<Invocation, 'tokenIds'>, ids: readonly string[]): void {
  invocation.tokenIds ??= [];
  let chars = invocation.tokenIds.reduce((sum, id) => sum + id.length, 0);
  for (const id of ids) {
    chars += id.length;
    if (invocation.tokenIds.length === mostTokenIds || chars > mostIdsChars) return;
    invocation.tokenIds.push(id);
  }
}

/** Stores the first lines, within the same bounds. */
export function notePrinted(invocation: Pick<Invocation, 'printed'>, lines: readonly ConsoleLine[]): void {
  invocation.printed ??= [];
  let chars = invocation.printed.reduce((sum, { text }) => sum + text.length, 0);
  for (const { level, text } of lines) {
    if (chars >= mostPrintedChars || invocation.printed.length === mostPrintedLines) return;
    const kept = text.slice(0, mostPrintedChars - chars);
    chars += kept.length;
    invocation.printed.push({ level, text: kept });
  }
}
