import type { ReactNode } from 'react';
import { useUnsaved } from '../api/unsaved.ts';
import { Button } from './button.tsx';
import { Code } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import styles from './new-secret.module.css';

interface NewSecretProps {
  title: string;
  secret: string;
  /** Completes `Copy …`. */
  what?: string;
  /** On the button that closes it. */
  done?: string;
  onClose: () => void;
  /** Beside that button. */
  acts?: ReactNode;
  /** What to do with it; by default it is a key. */
  children?: ReactNode;
}

/** A key or a link that the service shows once. Only its button closes it. */
export function NewSecret({
  title,
  secret,
  what = 'the secret',
  done = 'I have copied it',
  onClose,
  acts,
  children = 'Copy it now, to where your secrets are kept. Only its hash is stored, so it cannot be shown again.',
}: NewSecretProps) {
  const unsaved = useUnsaved(true);
  const close = () => {
    unsaved.release();
    onClose();
  };
  return (
    <Dialog open onClose={close} title={title} keepsOpen>
      <p className={styles.warning}>{children}</p>
      <Code text={secret} what={what} />
      <div className={styles.acts}>
        {acts}
        <Button kind="primary" onClick={close}>
          {done}
        </Button>
      </div>
    </Dialog>
  );
}
