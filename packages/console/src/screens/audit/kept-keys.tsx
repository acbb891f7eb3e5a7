import { Code } from '../../ui/copy.tsx';
import styles from './audit.module.css';

/** These keys come from the service that is being checked, so people must compare them with a copy of their own. */
export function KeptKeys({ keyFile }: { keyFile: string }) {
  return (
    <>
      <p className={styles.remark}>
        The service itself sent these public keys to this page. Store them elsewhere, and compare them with keys that
        you stored before.
      </p>
      <Code text={keyFile.trim()} what="the public keys" />
    </>
  );
}
