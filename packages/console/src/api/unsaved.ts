import { useEffect, useRef } from 'react';

const unsaved = new Set<object>();

/** Whether a form or an editor on the screen has something that is not saved. */
export function hasUnsaved(): boolean {
  return unsaved.size > 0;
}

export function forgetUnsaved(): void {
  unsaved.clear();
}

/** Something that somebody has typed, and that would be lost by leaving the page. */
export interface Unsaved {
  /** It was saved or discarded, so the page may be left at once. */
  release(): void;
}

export function useUnsaved(isUnsaved: boolean): Unsaved {
  const { current: mark } = useRef({});
  useEffect(() => {
    if (isUnsaved) unsaved.add(mark);
    return () => void unsaved.delete(mark);
  }, [isUnsaved, mark]);
  return { release: () => void unsaved.delete(mark) };
}
