import { Code } from '../../ui/copy.tsx';
import styles from './audit.module.css';

/** These keys come from the service that is being checked, so people must compare them with a copy of their own. */
export function KeptKeys({ keyFile }: { keyFile: string }) {
  return (
    <>
      <p className={styles.remark}>
        These public keys come from the service that you are checking, so they alone prove nothing. Compare them with
        the copy that you stored earlier. If you have none, store these now, outside of this service.
      </p>
      <Code text={keyFile.trim()} what="the public keys" />
    </>
  );
}
