export interface Notice {
  title: string;
  description?: string | undefined;
  /** Shown when somebody asks for it. */
  details?: string | undefined;
}

export interface ShownNotice extends Notice {
  id: number;
}

let shown: readonly ShownNotice[] = [];
let last = 0;
const listeners = new Set<() => void>();

function show(next: readonly ShownNotice[]): void {
  shown = next;
  for (const listener of listeners) listener();
}

/** So many fit on a small screen. */
const most = 3;

/** What is said for a while in the corner of the screen, and by screen readers. */
export const notices = {
  add(notice: Notice): void {
    last += 1;
    show([...shown, { ...notice, id: last }].slice(-most));
  },
  remove(id: number): void {
    show(shown.filter((notice) => notice.id !== id));
  },
  /** For `useSyncExternalStore`. */
  all: (): readonly ShownNotice[] => shown,
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
