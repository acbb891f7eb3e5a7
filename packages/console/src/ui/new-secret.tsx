import { Button } from './button.tsx';
import { Code } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import styles from './new-secret.module.css';

interface NewSecretProps {
  title: string;
  secret: string;
  onClose: () => void;
}

/** A key or a link that the service shows once. */
export function NewSecret({ title, secret, onClose }: NewSecretProps) {
  return (
    <Dialog open onClose={onClose} title={title} keepsOpen>
      <p className={styles.warning}>
        Copy it now, to where your secrets are kept. It is stored as a hash, so nobody can show it again.
      </p>
      <Code text={secret} what="the secret" />
      <div className={styles.acts}>
        <Button kind="primary" onClick={onClose}>
          I have copied it
        </Button>
      </div>
    </Dialog>
  );
}
