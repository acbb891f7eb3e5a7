import { AlertDialog } from '@base-ui/react/alert-dialog';
import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import type { PermissionName } from '@sluice/sdk';
import type { UseMutationResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import styles from './dialog.module.css';
import { TextField } from './form.tsx';
import { Fault } from './states.tsx';

interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  text?: ReactNode;
  wide?: boolean;
  /** Only its own buttons close it: neither a click beside it nor Escape does. */
  keepsOpen?: boolean;
  children: ReactNode;
}

export function Dialog({ open, onClose, title, text, wide = false, keepsOpen = false, children }: DialogProps) {
  return (
    <BaseDialog.Root open={open} onOpenChange={(isOpen) => !isOpen && !keepsOpen && onClose()}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={styles.backdrop} />
        <BaseDialog.Popup className={`${styles.popup} ${wide ? styles.wide : ''}`}>
          <BaseDialog.Title className={styles.title}>{title}</BaseDialog.Title>
          {text && <BaseDialog.Description className={styles.text}>{text}</BaseDialog.Description>}
          {children}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

interface ConfirmProps {
  /** On the button that opens the question, and on the one that does it. */
  act: string;
  title: string;
  /** What will happen, and to whom. */
  text: ReactNode;
  needs?: PermissionName | undefined;
  /** Why it would be refused, whatever the permission. */
  refusal?: string | undefined;
  small?: boolean;
  /** Must be typed first, because others would feel it: the name of what is deleted. */
  typed?: string | undefined;
  /** Below the text. */
  children?: ReactNode;
  /** From `useChange`. */
  change: UseMutationResult<unknown, Error, void>;
}

/** A change that cannot be taken back, and so asks first. */
export function Confirm({ act, title, text, needs, refusal, small, typed, children, change }: ConfirmProps) {
  const [open, setOpen] = useState(false);
  const [name, setName] = useState('');
  const show = (isOpen: boolean) => {
    change.reset();
    setName('');
    setOpen(isOpen);
  };
  return (
    <>
      <Button kind="danger" small={small} needs={needs} refusal={refusal} onClick={() => show(true)}>
        {act}
      </Button>
      <AlertDialog.Root open={open} onOpenChange={show}>
        <AlertDialog.Portal>
          <AlertDialog.Backdrop className={styles.backdrop} />
          <AlertDialog.Popup className={styles.popup}>
            <AlertDialog.Title className={styles.title}>{title}</AlertDialog.Title>
            <AlertDialog.Description className={styles.text}>{text}</AlertDialog.Description>
            {children}
            {typed !== undefined && <TextField label="Type the name" hint={typed} value={name} onText={setName} />}
            <Fault error={change.error} />
            <div className={styles.acts}>
              <Button onClick={() => show(false)}>Cancel</Button>
              <Button
                kind="danger"
                busy={change.isPending}
                disabled={typed !== undefined && name !== typed}
                onClick={() => change.mutate(undefined, { onSuccess: () => setOpen(false) })}
              >
                {act}
              </Button>
            </div>
          </AlertDialog.Popup>
        </AlertDialog.Portal>
      </AlertDialog.Root>
    </>
  );
}
