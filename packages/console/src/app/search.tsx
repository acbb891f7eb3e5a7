import { Dialog } from '@base-ui/react/dialog';
import { useEffect, useState } from 'react';
import { Icon } from '../ui/icon.tsx';
import { Palette } from './palette.tsx';
import styles from './search.module.css';

/** Opens the search of the whole console. */
export function Search() {
  const [open, setOpen] = useState(false);
  useSearchKeys(() => setOpen(true));
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Trigger className={styles.field} aria-keyshortcuts="Control+K Meta+K /">
        <Icon name="search" size={16} />
        <span>Search</span>
        <span className={styles.keys} aria-hidden="true">
          {isApple ? '⌘ K' : 'Ctrl K'}
        </span>
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className={styles.backdrop} />
        <Dialog.Popup className={styles.palette} aria-label="Search">
          <Palette onGo={() => setOpen(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Ctrl+K, ⌘K, and `/` unless somebody is typing, except over a question that must be answered first. */
function useSearchKeys(open: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, altKey, ctrlKey, metaKey, shiftKey, defaultPrevented } = event;
      const isCommand = key.toLowerCase() === 'k' && ctrlKey !== metaKey && !altKey && !shiftKey;
      const isSlash = key === '/' && !ctrlKey && !metaKey && !altKey && !isWriting(event);
      if (defaultPrevented || !(isCommand || isSlash)) return;
      event.preventDefault();
      if (!document.querySelector('[role="dialog"], [role="alertdialog"]')) open();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [open]);
}

function isWriting(event: KeyboardEvent): boolean {
  const [at] = event.composedPath();
  return at instanceof HTMLElement && (at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName));
}
