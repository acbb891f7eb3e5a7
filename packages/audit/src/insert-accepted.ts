import type { RowRange } from './row-chunk.ts';

/** Halves a refused batch until each refused row stands alone. @returns the refused rows, each as a range of one. */
export async function insertAccepted<Segment>(
  rows: RowRange<Segment>,
  insert: (rows: RowRange<Segment>) => Promise<void>,
): Promise<{ refused: RowRange<Segment>[]; reason?: unknown }> {
  try {
    await insert(rows);
    return { refused: [] };
  } catch (error) {
    if (!isAboutRows(error)) throw error;
    if (rows.length === 1) return { refused: [rows], reason: error };
  }
  const middle = rows.length >> 1;
  const first = await insertAccepted(rows.slice(0, middle), insert);
  const second = await insertAccepted(rows.slice(middle), insert);
  return { refused: [...first.refused, ...second.refused], reason: first.reason ?? second.reason };
}

/** SQLSTATE classes about rows: data exceptions, constraints, functions and triggers, limits. */
const aboutRows = new Set(['22', '23', 'P0', '54']);

export function isAboutRows(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && code.length === 5 && aboutRows.has(code.slice(0, 2));
}
