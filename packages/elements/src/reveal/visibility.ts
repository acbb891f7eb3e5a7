interface VisibilityInit extends IntersectionObserverInit {
  trackVisibility: true;
  delay: number;
}

/**
 * Reports whether the person sees the frame uncovered and without visual effects. Otherwise a hostile script could cover our
 * copy button with its own, so that the person copies a value and pastes it there. Only Chromium can tell; elsewhere `tell` is
 * never called.
 */
export function watchVisibility(element: Element, tell: (isSeen: boolean) => void) {
  if (!('isVisible' in IntersectionObserverEntry.prototype)) return;
  const init: VisibilityInit = { trackVisibility: true, delay: 100 };
  new IntersectionObserver((entries) => {
    const last = entries.at(-1) as (IntersectionObserverEntry & { isVisible: boolean }) | undefined;
    tell(last?.isVisible ?? false);
  }, init).observe(element);
}
