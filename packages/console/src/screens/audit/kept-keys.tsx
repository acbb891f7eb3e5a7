import { Code } from '../../ui/copy.tsx';
import styles from './audit.module.css';

/** These keys come from the service that is being checked, so people must compare them with a copy of their own. */
export function KeptKeys({ keyFile }: { keyFile: string }) {
  return (
    <>
      <p className={styles.remark}>
        This page was given the public keys below by the service itself. Keep them elsewhere, and compare them with
        those that you have kept.
      </p>
      <Code text={keyFile.trim()} what="the public keys" />
    </>
  );
}
