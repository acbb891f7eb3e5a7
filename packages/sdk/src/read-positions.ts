/** Positions of a list from `from` up to, not including, `to`, counted from its beginning. */
interface Span {
  from: number;
  to: number;
}

/**
 * Determines the next page. Deleted items move others to earlier positions, so a page that was read may contain unread
 * items. The total of each page shows how many items were deleted, but not their positions, so only positions that are
 * read in either case count.
 */
export class ReadPositions {
  #spans: readonly Span[] = [];
  #total: number | undefined;

  /** @returns the number of the page with the first unread position; undefined if all are read. */
  pageAfter({ number, size, total }: { number: number; size: number; total: number }): number | undefined {
    const change = total - (this.#total ?? total);
    const before = this.#spans.map((span) => (change < 0 ? withoutDeleted(span, -change) : withoutAdded(span, change)));
    // The caller may have chosen a later page to begin with.
    const from = before.length === 0 ? 0 : (number - 1) * size;
    this.#spans = joined([...before, { from, to: number * size }]);
    this.#total = total;
    const [first] = this.#spans;
    const unread = first?.from === 0 ? first.to : 0;
    return unread < total ? Math.floor(unread / size) + 1 : undefined;
  }
}

function withoutDeleted({ from, to }: Span, count: number): Span {
  return { from, to: to - count };
}

/** New items come first and need not be read. They push unread items into a span that does not begin the list. */
function withoutAdded({ from, to }: Span, count: number): Span {
  return { from: from === 0 ? 0 : from + count, to };
}

function joined(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const span of spans.filter(({ from, to }) => from < to).sort((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else result.push({ ...span });
  }
  return result;
}
