export function watchVisibility(element, tell) {
    if (!('isVisible' in IntersectionObserverEntry.prototype))
        return;
    const init = { trackVisibility: true, delay: 100 };
    new IntersectionObserver((entries) => {
        const last = entries.at(-1);
        tell(last?.isVisible ?? false);
    }, init).observe(element);
}
