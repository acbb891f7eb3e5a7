export const application = new URLSearchParams(location.search).get('application') ?? '';
export function offer(group, id, shared) {
    const value = { application, group, id, open: (asker) => (isSibling(asker) ? shared : undefined) };
    Object.defineProperty(window, 'sluice', { value: Object.freeze(value) });
}
export function siblingOf(id) {
    const frames = Array.from({ length: parent.length }, (_, at) => parent[at]).filter(isSibling);
    return frames.find((frame) => frame.sluice?.id === id)?.sluice?.open(window);
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
