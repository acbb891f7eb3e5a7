import { useSyncExternalStore } from 'react';
import { Icon } from '../ui/icon.tsx';
import styles from './frame.module.css';

function subscribe(listener: () => void): () => void {
  addEventListener('online', listener);
  addEventListener('offline', listener);
  return () => {
    removeEventListener('online', listener);
    removeEventListener('offline', listener);
  };
}

/** Said as long as the browser has no network. */
export function Offline() {
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine);
  return (
    <div role="status">
      {!isOnline && (
        <p className={styles.offline}>
          <Icon name="alert" size={16} />
          Your browser is offline. What you see may be old, and nothing can be saved until the network is back.
        </p>
      )}
    </div>
  );
}
