import type { ConsoleLine } from '@sluice/sandbox';
import type { Invocation } from '../proxies/invocation.ts';

const mostTokenIds = 20;
/** As JSON, in which a control character takes six bytes. */
const mostIdsBytes = 2000;
const mostPrintedBytes = 2000;
const mostPrintedLines = 20;

/** Stores the first of them, within bounds that keep a record small. */
export function noteTokenIds(invocation: Pick<Invocation, 'tokenIds'>, ids: readonly string[]): void {
  invocation.tokenIds ??= [];
  addFirst(invocation.tokenIds, ids);
}

/** Those whose values the response guard found. */
export function noteGuardTokenIds(invocation: Pick<Invocation, 'guardTokenIds'>, ids: readonly string[]): void {
  invocation.guardTokenIds ??= [];
  addFirst(invocation.guardTokenIds, ids);
}

function addFirst(noted: string[], ids: readonly string[]): void {
  let bytes = sum(noted);
  for (const id of ids) {
    bytes += bytesAsJson(id);
    if (noted.length === mostTokenIds || bytes > mostIdsBytes) return;
    noted.push(id);
  }
}

/** Stores the first lines, within the same bounds. */
export function notePrinted(invocation: Pick<Invocation, 'printed'>, lines: readonly ConsoleLine[]): void {
  invocation.printed ??= [];
  let bytes = sum(invocation.printed.map(({ text }) => text));
  for (const { level, text } of lines) {
    if (bytes >= mostPrintedBytes || invocation.printed.length === mostPrintedLines) return;
    const kept = firstOf(text, mostPrintedBytes - bytes);
    bytes += bytesAsJson(kept);
    invocation.printed.push({ level, text: kept });
    if (kept.length < text.length) return;
  }
}

const sum = (texts: readonly string[]) => texts.reduce((bytes, text) => bytes + bytesAsJson(text), 0);

/** One byte for each character. Nearly all token ids, such as UUIDs, pass this quick check. */
const plain = /^[\w.~-]*$/;

/** Without the quotes. */
function bytesAsJson(text: string): number {
  if (plain.test(text)) return text.length;
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}

/** The beginning of the text that has at most so many bytes as JSON. */
function firstOf(text: string, mostBytes: number): string {
  let kept = text.slice(0, mostBytes);
  for (let bytes = bytesAsJson(kept); bytes > mostBytes; bytes = bytesAsJson(kept)) {
    kept = kept.slice(0, Math.floor((kept.length * mostBytes) / bytes));
  }
  return kept;
}
