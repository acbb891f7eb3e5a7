import { AlertDialog } from '@base-ui/react/alert-dialog';
import { useBlocker } from '@tanstack/react-router';
import { hasUnsaved } from '../api/unsaved.ts';
import { Button } from '../ui/button.tsx';
import styles from '../ui/dialog.module.css';

/** Asks before a page with something unsaved is left, by a link, the way back, or closing the tab. */
export function LeaveGuard() {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => hasUnsaved() && current.pathname !== next.pathname,
    enableBeforeUnload: hasUnsaved,
    withResolver: true,
  });
  if (status !== 'blocked') return null;
  return (
    <AlertDialog.Root open onOpenChange={(isOpen) => !isOpen && reset()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={styles.backdrop} />
        <AlertDialog.Popup className={styles.popup}>
          <AlertDialog.Title className={styles.title}>Leave without saving?</AlertDialog.Title>
          <AlertDialog.Description className={styles.text}>
            This page has changes that are not saved. They are lost if you leave it.
          </AlertDialog.Description>
          <div className={styles.acts}>
            <Button onClick={reset}>Stay</Button>
            <Button kind="danger" onClick={proceed}>
              Leave without saving
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
