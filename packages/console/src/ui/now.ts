import { useSyncExternalStore } from 'react';

const tickMs = 10_000;

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  if (document.hidden) return;
  now = Date.now();
  for (const listener of listeners) listener();
}

/** All texts share one timer, which rests while nobody sees the page. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    now = Date.now();
    timer = setInterval(tick, tickMs);
    document.addEventListener('visibilitychange', tick);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
    document.removeEventListener('visibilitychange', tick);
  };
}

/** A text about the present moment. Its component is rendered again only when the text has changed. */
export function useNow(textAt: (now: number) => string): string {
  return useSyncExternalStore(subscribe, () => {
    if (timer === undefined) now = Date.now();
    return textAt(now);
  });
}
