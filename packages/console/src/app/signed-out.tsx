import { AlertDialog } from '@base-ui/react/alert-dialog';
import { nameOf, useMe } from '../api/me.ts';
import { leaveToSignIn, useSignIn } from '../api/sign-in.ts';
import { forgetUnsaved } from '../api/unsaved.ts';
import { Button, buttonClass } from '../ui/button.tsx';
import styles from '../ui/dialog.module.css';

/** Over a page that has something unsaved and whose sign-in has ended. The page stays as it is behind it. */
export function SignedOut() {
  const signIn = useSignIn();
  const me = useMe();
  if (signIn.state === 'signed in') return null;
  const isOther = signIn.state === 'other';
  return (
    <AlertDialog.Root open>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={styles.backdrop} />
        <AlertDialog.Popup className={styles.popup}>
          <AlertDialog.Title className={styles.title}>
            {isOther ? 'You signed in as another person' : 'Your sign-in has ended'}
          </AlertDialog.Title>
          <AlertDialog.Description className={styles.text}>
            {isOther
              ? `This page belongs to ${nameOf(me)} in ${me.tenant.name}. This browser is now signed in as ${nameOf(signIn.now)} in ${signIn.now.tenant.name}. Nothing was sent. To keep what you typed, sign in as before in a new tab.`
              : `It has expired, or it was ended, or you are no longer a member of ${me.tenant.name}. What you typed is still here: sign in in a new tab, and this page continues.`}
          </AlertDialog.Description>
          <div className={styles.acts}>
            <Button onClick={isOther ? reload : leaveToSignIn}>
              {isOther ? 'Discard and reload' : 'Discard and leave'}
            </Button>
            <a className={buttonClass({ kind: 'primary' })} href="/sign-in" target="_blank" rel="noopener">
              Sign in in a new tab
            </a>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

function reload(): void {
  forgetUnsaved();
  location.reload();
}
