import { Toast } from '@base-ui/react/toast';
import { useEffect } from 'react';
import { onNotice } from '../api/notices.ts';
import { Icon } from './icon.tsx';
import styles from './notices.module.css';

const manager = Toast.createToastManager();

export function Notices() {
  useEffect(() => onNotice((notice) => manager.add(notice)), []);
  return (
    <Toast.Provider toastManager={manager}>
      <Shown />
    </Toast.Provider>
  );
}

function Shown() {
  const { toasts } = Toast.useToastManager();
  return (
    <Toast.Portal>
      <Toast.Viewport className={styles.viewport}>
        {toasts.map((toast) => (
          <Toast.Root key={toast.id} toast={toast} className={styles.notice}>
            <span className={styles.mark}>
              <Icon name="check" size={16} />
            </span>
            <div>
              <Toast.Title className={styles.title} render={<p />} />
              <Toast.Description className={styles.description} />
            </div>
            <Toast.Close className={styles.close} aria-label="Close this notice">
              <Icon name="close" size={14} />
            </Toast.Close>
          </Toast.Root>
        ))}
      </Toast.Viewport>
    </Toast.Portal>
  );
}
