import type { Pieces } from '@sluice/service-runtime';

/** This much is written before other work may run; it takes about a millisecond. */
const valuesOfPiece = 2000;
const charactersOfPiece = 256 * 1024;

/** Like `JSON.stringify` for defined values, but in pieces for a large value. */
export function* stringifyInPieces(value: unknown): Pieces<string> {
  const size = sizeOf(value);
  if (size <= valuesOfPiece || typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isArray = Array.isArray(value);
  const members: readonly unknown[] = isArray ? value : Object.keys(value);
  let text = '';
  let chunk: string[] = [];
  let left = valuesOfPiece;
  yield;
  for (const member of members) {
    const item: unknown = isArray ? member : value[member as keyof typeof value];
    if (item === undefined && !isArray) continue;
    const itemSize = sizeOf(item);
    if (left < itemSize) {
      text += (text === '' || chunk.length === 0 ? '' : ',') + chunk.join();
      chunk = [];
      left = valuesOfPiece;
      yield;
    }
    left -= itemSize;
    const written = itemSize > valuesOfPiece ? yield* stringifyInPieces(item) : (JSON.stringify(item) ?? 'null');
    chunk.push(isArray ? written : `${JSON.stringify(member)}:${written}`);
  }
  text += (text === '' || chunk.length === 0 ? '' : ',') + chunk.join();
  return isArray ? `[${text}]` : `{${text}}`;
}

/** A long text counts as several values. Counting stops at one more than fits in a piece. */
function sizeOf(value: unknown): number {
  let size = 0;
  const left = [value];
  while (left.length > 0) {
    const item = left.pop();
    size += 1;
    if (typeof item === 'string') size += Math.ceil((item.length * valuesOfPiece) / charactersOfPiece);
    if (typeof item === 'object' && item !== null) {
      const members: readonly unknown[] = Array.isArray(item) ? item : Object.values(item);
      if (size + members.length > valuesOfPiece) return valuesOfPiece + 1;
      for (const member of members) left.push(member);
    }
    if (size > valuesOfPiece) return valuesOfPiece + 1;
  }
  return size;
}
