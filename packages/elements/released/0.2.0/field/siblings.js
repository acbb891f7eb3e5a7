export const application = new URLSearchParams(location.search).get('application') ?? '';
export function offer(group, id, shared) {
    const open = (asker) => (isSibling(asker) ? shared : undefined);
    const value = { application, group, id, open, unlisted: new Set() };
    Object.defineProperty(window, 'sluice', { value: Object.freeze(value) });
    if (listed().includes(window))
        return;
    for (const frame of listed().filter(isSibling))
        frame.sluice?.unlisted.add(window);
}
export function siblingOf(id) {
    const seen = listed().filter(isSibling);
    const unlisted = seen.flatMap((frame) => [...(frame.sluice?.unlisted ?? [])]).filter(isSibling);
    return [window, ...seen, ...unlisted].find((frame) => frame.sluice?.id === id)?.sluice?.open(window);
}
function listed() {
    return Array.from({ length: parent.length }, (_, at) => parent[at]);
}
function isSibling(frame) {
    try {
        const [own, theirs] = [window.sluice, frame.sluice];
        return frame.parent === parent && theirs?.application === application && theirs.group === own?.group;
    }
    catch {
        return false;
    }
}
