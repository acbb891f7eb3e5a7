import { hasUnsaved } from '../api/unsaved.ts';

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** For a button that a shortcut presses. The title tells people about it, the attribute tells screen readers and {@link listenToShortcuts}. */
export const shortcuts = {
  save: { title: isMac ? '⌘S' : 'Ctrl+S', 'aria-keyshortcuts': 'Control+S Meta+S' },
  run: { title: isMac ? '⌘Enter' : 'Ctrl+Enter', 'aria-keyshortcuts': 'Control+Enter Meta+Enter' },
};

/** Ctrl or Cmd with S presses the save button of what has unsaved changes, and with Enter the run button. */
export function listenToShortcuts(): void {
  document.addEventListener('keydown', (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    const wanted = event.key === 's' ? shortcuts.save : event.key === 'Enter' ? shortcuts.run : undefined;
    const button = wanted && find(wanted['aria-keyshortcuts']);
    if (!button) return;
    event.preventDefault();
    if (wanted === shortcuts.run || hasUnsaved()) button.click();
  });
}

/** The button of the form that has the focus. Otherwise the only one, but never one behind a dialog. */
function find(keys: string): HTMLElement | undefined {
  const found = [...document.querySelectorAll<HTMLButtonElement>(`button[aria-keyshortcuts="${keys}"]`)];
  const focused = document.activeElement;
  const near = found.find((button) => button.form?.contains(focused));
  if (near || found.length !== 1) return near;
  return found.find((button) => !button.closest('[aria-hidden="true"], [inert]'));
}
