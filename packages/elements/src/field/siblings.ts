/** The Application that this frame was made for. */
export const application = new URLSearchParams(location.search).get('application') ?? '';

/** A field's part of a token. */
export interface Part {
  /** Its kind, or a text's name. */
  name: string;
  /** Undefined of a frame that is missing. */
  isText?: boolean;
  /** Absent while it is not complete. A text's is a string. */
  data?: string | Record<string, string | number> | undefined;
}

/** What a field's siblings may use of it. */
export interface Shared {
  /** Its part of a token. Marks wrong inputs as invalid, for which a text loses the focus. */
  take(): Part;
  /** What is typed as the number of a card. Undefined in a field of another kind, whatever its id. */
  number(): string | undefined;
  /** Tells the page a state that has changed because a sibling did. */
  reconsider(): void;
}

/** What a frame offers to other frames of the vault's origin. Windows of other origins cannot see it. */
interface Offer {
  readonly application: string;
  readonly group: string;
  readonly id: string;
  /** Undefined to a frame that is no sibling. */
  open(asker: Window): Shared | undefined;
  /** Siblings in a shadow root, which the page's window does not list. */
  readonly unlisted: Set<Window>;
}

declare global {
  interface Window {
    sluice?: Offer;
  }
}

/** Makes this frame's field available to its siblings, once. @param shared absent of a frame without a field. */
export function offer(group: string, id: string, shared?: Shared) {
  const open = (asker: Window) => (isSibling(asker) ? shared : undefined);
  const value: Offer = { application, group, id, open, unlisted: new Set() };
  Object.defineProperty(window, 'sluice', { value: Object.freeze(value) });
  if (listed().includes(window)) return;
  for (const frame of listed().filter(isSibling)) frame.sluice?.unlisted.add(window);
}

/** A field of the group, which may be this frame's own. */
export function siblingOf(id: string): Shared | undefined {
  const seen = listed().filter(isSibling);
  const unlisted = seen.flatMap((frame) => [...(frame.sluice?.unlisted ?? [])]).filter(isSibling);
  return [window, ...seen, ...unlisted].find((frame) => frame.sluice?.id === id)?.sluice?.open(window);
}

function listed(): Window[] {
  return Array.from({ length: parent.length }, (_, at) => parent[at] as Window);
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
