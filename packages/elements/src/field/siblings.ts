/** The Application that this frame was made for. */
export const application = new URLSearchParams(location.search).get('application') ?? '';

/** A field's part of a token. */
export interface Part {
  /** Its kind, or a text's name. */
  name: string;
  /** Absent while it is not complete. A text's is a string. */
  data?: string | Record<string, string | number> | undefined;
}

/** What a frame offers to other frames of the vault's origin. Windows of other origins cannot see it. */
interface Offer {
  readonly application: string;
  readonly group: string;
  readonly id: string;
  /** Undefined to a frame that is no sibling. */
  take(asker: Window): Part | undefined;
}

declare global {
  interface Window {
    sluice?: Offer;
  }
}

/** Makes this frame's part available to its siblings, once. */
export function offer(group: string, id: string, take: () => Part) {
  const value: Offer = { application, group, id, take: (asker) => (isSibling(asker) ? take() : undefined) };
  Object.defineProperty(window, 'sluice', { value: Object.freeze(value) });
}

/** The parts of these fields of the group. A missing frame counts as incomplete. */
export function takeParts(ids: readonly string[]): Part[] {
  const frames = Array.from({ length: parent.length }, (_, at) => parent[at] as Window).filter(isSibling);
  return ids.map((id) => frames.find((frame) => frame.sluice?.id === id)?.sluice?.take(window) ?? { name: id });
}

/**
 * Frames make one token only if they have the same page, Application and group. The page alone is not enough, because an
 * advertisement in it may have fields too. The group alone is not enough, because a script in the page may know it.
 */
function isSibling(frame: Window): boolean {
  try {
    const [own, theirs] = [window.sluice, frame.sluice];
    return frame.parent === parent && theirs?.application === application && theirs.group === own?.group;
  } catch {
    // A window of another origin.
    return false;
  }
}
