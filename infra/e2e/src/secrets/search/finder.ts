import { type Canary, type Needle, needlesOf, squeeze } from './forms.ts';

export interface Hit {
  /** For example `tokens.metadata`. */
  where: string;
  canary: string;
  form: string;
  around: string;
}

export type Finder = ReturnType<typeof canaryFinder>;

/** Looks for canaries in bytes, and keeps count of what it was given. */
export function canaryFinder(canaries: readonly Canary[]) {
  const needles = canaries.flatMap(needlesOf);
  const hits: Hit[] = [];
  const searched = new Map<string, { items: number; bytes: number }>();
  return {
    hits,
    searched,
    /** @param except names of canaries that may be here. */
    search(place: string, where: string, bytes: Buffer, except: ReadonlySet<string> = new Set()): void {
      const count = searched.get(place) ?? { items: 0, bytes: 0 };
      searched.set(place, { items: count.items + 1, bytes: count.bytes + bytes.length });
      hits.push(...findIn(bytes, needles, except).map((hit) => ({ where: `${place}: ${where}`, ...hit })));
    },
  };
}

function findIn(bytes: Buffer, needles: readonly Needle[], except: ReadonlySet<string>): Omit<Hit, 'where'>[] {
  const latin1 = bytes.toString('latin1');
  const squeezed = squeeze(latin1);
  const found: Omit<Hit, 'where'>[] = [];
  for (const { canary, form, text, squeezed: isSqueezed } of needles) {
    if (except.has(canary) || found.some((hit) => hit.canary === canary)) continue;
    const haystack = isSqueezed ? squeezed : latin1;
    const at = haystack.indexOf(text);
    if (at === -1) continue;
    found.push({ canary, form, around: haystack.slice(Math.max(0, at - 80), at + text.length + 40) });
  }
  return found;
}
